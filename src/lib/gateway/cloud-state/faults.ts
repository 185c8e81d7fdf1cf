import {
  type ChassisSnapshot,
  type ConditionId,
  judgeCondition,
  type LiveValues,
  missingReason,
} from '../../chassis/index.ts';
import type { CurrentFaults } from '../../cloud/index.ts';
import { formatTried } from '../../error/index.ts';
import type { Mark } from '../../evidence/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import { type GatewayHealth, isEndSound, isRenewalSound } from '../../operator/index.ts';
import { shorten } from '../../text/index.ts';

export interface FaultSources {
  readonly snapshot: ChassisSnapshot;
  readonly motion: Pick<MotionStatus, 'stop' | 'keepingTrouble'>;
  readonly health: Pick<GatewayHealth, 'services' | 'disk' | 'evidence' | 'certificate' | 'clock'>;
}

const MAX_TEXT_CHARACTERS = 300;
/** The one value of fail_reason with a measured meaning. @source specification, 'Errors' */
const MEASURED_FAIL_REASON = 103;

/**
 * The faults of this robot. A latched stop is a state and no fault. What gw observes of itself has mark BELEGT; what the
 * chassis reports has the mark of its topic, and its numbers are passed through.
 */
export function faultsOf({ snapshot, motion, health }: FaultSources): CurrentFaults {
  const parts = [
    ...health.services.map(serviceFault),
    linkFault(snapshot),
    unitFault(snapshot),
    ...conditionFaults(snapshot.values),
    alertFaults(snapshot.values),
    moveFault(snapshot.values),
    ...diskFaults(health.disk),
    evidenceFault(health.evidence),
    certificateFault(health.certificate),
    renewalFault(health.certificate),
    clockFault(health.clock),
    ...stopFaults(motion),
  ];
  return { present: parts.flatMap((part) => part.present), unchecked: parts.flatMap((part) => part.unchecked) };
}

const none: CurrentFaults = { present: [], unchecked: [] };
const uncheckedFrom = (start: string): CurrentFaults => ({ present: [], unchecked: [start] });

function fault(
  key: string,
  text: string,
  { number = null, mark = 'BELEGT' }: { number?: number | null; mark?: Mark } = {},
): CurrentFaults {
  const short = shorten(text.toWellFormed(), MAX_TEXT_CHARACTERS);
  const passed = number !== null && Number.isFinite(number) ? number : null;
  return { present: [{ key, text: short, number: passed, mark }], unchecked: [] };
}

function serviceFault({ name, status, lastError }: GatewayHealth['services'][number]): CurrentFaults {
  const key = `service.${name}`;
  switch (status) {
    case 'running':
      return none;
    case 'restarting':
      return fault(key, `Service ${name} does not run: ${lastError ?? 'no reason given'}`);
    case 'waiting':
    case 'starting':
    case 'stopping':
    case 'stopped':
      return uncheckedFrom(key);
  }
}

/** Connecting is neither a fault nor the end of one. */
function linkFault({ link }: ChassisSnapshot): CurrentFaults {
  switch (link.kind) {
    case 'connected':
      return none;
    case 'connecting':
      return uncheckedFrom('chassis.link.');
    case 'booting':
      return fault('chassis.link.booting', `The chassis is starting${link.step === null ? '' : `: ${link.step}`}.`);
    case 'not-connected': {
      const key = link.failure === 'wrong-device' ? 'wrong-device' : 'not-connected';
      const found = link.foundSerial === undefined ? '' : ` Found serial ${link.foundSerial}.`;
      return fault(
        `chassis.link.${key}`,
        `Chassis not connected: ${link.detail} Tried: ${formatTried(link.tried)}.${found}`,
      );
    }
  }
}

function unitFault({ unitContradicted, poseUnit }: ChassisSnapshot): CurrentFaults {
  if (unitContradicted)
    return fault('chassis.pose-unit', `The pose is in radians, measured were degrees: ${poseUnit.reason}`);
  return poseUnit.doubt === null
    ? none
    : fault('chassis.pose-unit-doubt', `Unit of the pose in doubt: ${poseUnit.doubt}`);
}

const conditionTexts: Readonly<Record<string, string>> = {
  'emergency-stop.pressed': 'The emergency stop is pressed.',
  'control-mode.not-auto': 'The control mode is not automatic.',
  'control-mode.wheels-released': 'The wheels are released.',
  'positioning.lost': 'The position is lost.',
  'positioning.poor': 'The position is poor.',
  'positioning.inactive': 'The positioning is inactive.',
  'positioning.mapping': 'The chassis is mapping.',
  'battery.low': 'The battery is low.',
  'battery.critical': 'The battery is critically low.',
  'power.contradictory': 'The battery is reported as full with a low charge.',
};

const topicOf: Readonly<Record<ConditionId, keyof LiveValues>> = {
  'emergency-stop': 'wheels',
  'control-mode': 'wheels',
  positioning: 'positioning',
  battery: 'battery',
  power: 'battery',
  alerts: 'alerts',
};

/** Each alert is a fault of its own. */
function conditionFaults(values: LiveValues): CurrentFaults[] {
  return judgeCondition(values)
    .filter(({ id }) => id !== 'alerts')
    .map(({ id, state, verdict }) => {
      if (verdict === 'not-checked') return uncheckedFrom(`condition.${id}.`);
      if (verdict === 'ok') return none;
      const key = `${id}.${state}`;
      return fault(`condition.${key}`, conditionTexts[key] ?? `Condition ${id}: ${state}.`, {
        number: id === 'battery' && values.battery.status === 'received' ? values.battery.value.percent : null,
        mark: markOf(values[topicOf[id]]),
      });
    });
}

function alertFaults({ alerts }: LiveValues): CurrentFaults {
  const missing = missingReason(alerts);
  if (alerts.status !== 'received' || (missing !== null && missing !== 'newer-rejected'))
    return uncheckedFrom('alert.');
  const mark = markOf(alerts);
  // Level `none` is no fault by the words of the vendor, and what else it is is not known.
  const counted = alerts.value.filter(({ level }) => level !== 'none');
  return {
    present: counted.flatMap(
      ({ code, level, message }) =>
        fault(`alert.${code}`, `Alert ${code} (${level}): ${message}`, { number: code, mark }).present,
    ),
    unchecked: missing === null ? [] : uncheckedFrom('alert.').unchecked,
  };
}

/** The last move, until the next one begins. */
function moveFault({ planning }: LiveValues): CurrentFaults {
  if (missingReason(planning) !== null || planning.status !== 'received') return uncheckedFrom('move.');
  const { moveState, failReason, failReasonText } = planning.value;
  if (moveState !== 'failed') return none;
  return fault(
    `move.failed.${failReason}`,
    `The last move failed: fail_reason ${failReason} ${failReasonText}`.trim(),
    {
      number: failReason,
      mark: failReason === MEASURED_FAIL_REASON ? 'BELEGT' : 'OFFEN',
    },
  );
}

function diskFaults(disk: GatewayHealth['disk']): CurrentFaults[] {
  return Object.entries(disk).map(([name, { status, path, detail }]) => {
    const start = `disk.${name}.`;
    if (status === 'ok') return none;
    return status === 'not-checked' ? uncheckedFrom(start) : fault(`${start}${status}`, `${path}: ${detail}`);
  });
}

function evidenceFault({ status, detail }: GatewayHealth['evidence']): CurrentFaults {
  return status === 'as-read' ? none : fault(`evidence.${status}`, detail);
}

/** Each threshold is a fault of its own, so that the cloud is warned anew. */
function certificateFault(certificate: GatewayHealth['certificate']): CurrentFaults {
  if (certificate?.status === 'not-checked') return uncheckedFrom('certificate.');
  if (certificate === undefined || isEndSound(certificate)) return none;
  const { status, withinDays, detail, daysLeft } = certificate;
  const key = status === 'expired' || status === 'not-yet-valid' ? status : `ends-within-${withinDays}-days`;
  return fault(`certificate.${key}`, detail, { number: daysLeft });
}

/** Only what several endpoints agreed on; what is not decided is neither a fault nor the end of one. */
function clockFault(clock: GatewayHealth['clock']): CurrentFaults {
  switch (clock?.status) {
    case 'wrong':
      return fault('clock.wrong', clock.detail, {
        number: clock.behindMs === null ? null : Math.round(-clock.behindMs / 1_000),
      });
    case 'not-checked':
    case 'not-decided':
      return uncheckedFrom('clock.');
    default:
      return none;
  }
}

function renewalFault(certificate: GatewayHealth['certificate']): CurrentFaults {
  const renewal = certificate?.renewal;
  if (renewal?.status === 'not-checked') return uncheckedFrom('certificate.renewal');
  // A new certificate is proved within seconds; only that it was not is a fault.
  const isNew = renewal?.status === 'not-proved' && renewal.candidate?.failedProofs === 0;
  if (renewal === undefined || isRenewalSound(certificate) || isNew) return none;
  return fault(`certificate.renewal-${renewal.status}`, renewal.detail, { number: renewal.failed });
}

function stopFaults({ stop, keepingTrouble }: FaultSources['motion']): CurrentFaults[] {
  return [
    stop.saved === false ? fault('stop.not-saved', stop.unsavedBecause ?? 'The stop is not saved.') : none,
    keepingTrouble === null ? none : fault('stop.cannot-be-saved', keepingTrouble.reason),
  ];
}

function markOf(live: LiveValues[keyof LiveValues]): Mark {
  return live.status === 'received' ? live.mark : 'OFFEN';
}
