import {
  type Alert,
  type ConditionId,
  CRITICAL_BATTERY_PERCENT,
  type JudgedCondition,
  judgeCondition,
  type LiveValue,
  type LiveValues,
  LOW_BATTERY_PERCENT,
  type NotChecked,
} from '../../chassis/index.ts';
import { factById } from '../../evidence/index.ts';
import type { Finding } from '../finding.result.ts';
import type { RobotCondition } from './chassis.result.ts';

/** Conditions reported by the robot, judged and described, each with the mark and source of its topic. */
export function robotConditions(values: LiveValues): RobotCondition[] {
  const descriptions = describe(values);
  return judgeCondition(values).map((condition) => {
    const { id, verdict, missing } = condition;
    const { topic, title, live, reported } = descriptions[id];
    const [detail, remedy = null] = textOf(condition, descriptions[id]);
    const { mark, basis, source, ageMs } = live.status === 'received' ? live : {};
    const unit = id === 'battery' ? { unit: 'percent' } : {};
    return {
      id,
      title,
      verdict,
      ...(missing !== null || live.rejected === undefined
        ? { detail, remedy }
        : {
            detail: `${detail}; the newest message of ${topic} is malformed: ${live.rejected}`,
            remedy: remedy === null ? REJECTED_REMEDY : `${remedy} ${REJECTED_REMEDY}`,
          }),
      missing,
      reported: live.status === 'received' ? { value: reported, mark, basis, source, ...unit, ageMs } : null,
    } as RobotCondition;
  });
}

/** The same as findings of a check. */
export function conditionFindings(conditions: readonly RobotCondition[]): Finding[] {
  return conditions.map(({ id, title, verdict, detail, remedy }) => {
    return { id, title, verdict, detail, remedy, spec: 'Chassis interface' };
  });
}

/** Remedy for rejected messages: a map or a position would not help. */
export const REJECTED_REMEDY =
  'Report the software version of the chassis with this text; gw rejects messages with malformed fields.';

type Text = readonly [detail: string, remedy?: string];
/** A text for each state of a condition. */
type Texts<Id extends ConditionId> = Readonly<Record<Extract<JudgedCondition, { id: Id }>['state'], Text>>;

interface Description {
  readonly topic: string;
  readonly title: string;
  readonly live: LiveValue<unknown>;
  readonly reported: unknown;
  readonly texts: Readonly<Record<string, Text>>;
}

function describe({ wheels, positioning, battery, alerts }: LiveValues): Readonly<Record<ConditionId, Description>> {
  const one = <Id extends ConditionId, T>(
    _id: Id,
    topic: string,
    title: string,
    live: LiveValue<T>,
    read: (value: T) => { readonly reported: unknown; readonly texts: Texts<Id> },
  ): Description => {
    const received = live.status === 'received' ? read(live.value) : { reported: null, texts: {} };
    return { topic, title, live, ...received };
  };
  const again = 'Set the position of the robot again, then probe again.';
  const charge = `Charge it to at least ${LOW_BATTERY_PERCENT} % before it drives.`;
  return {
    'emergency-stop': one('emergency-stop', '/wheel_state', 'Emergency stop', wheels, ({ emergencyStopPressed }) => ({
      reported: emergencyStopPressed,
      texts: {
        pressed: ['PRESSED', 'Remove the reason for the stop, then release the button on the robot.'],
        'not-pressed': ['not pressed'],
      },
    })),
    'control-mode': one('control-mode', '/wheel_state', 'Control mode', wheels, ({ controlMode }) => ({
      reported: controlMode,
      texts: {
        auto: ['auto'],
        'not-auto': [
          `'${controlMode}': the robot carries out no move orders`,
          'Switch the robot to automatic mode on the robot or in its own app.',
        ],
        unreadable: ['auto; wheels_released of /wheel_state is malformed', REJECTED_REMEDY],
        'wheels-released': ['auto, but the wheels are released', 'Engage the wheels on the robot.'],
        unknown: [`'${controlMode}' is not a control mode of the vendor texts`],
      },
    })),
    positioning: one('positioning', '/slam/state', 'Positioning', positioning, (value) => ({
      reported: { ...value },
      texts: {
        reliable: ['reliable'],
        lost: ['LOST', again],
        poor: ['poor', again],
        unreadable: ['reliable; position_quality of /slam/state is malformed', REJECTED_REMEDY],
        inactive: ['inactive', 'Set a map and a position on the chassis, then probe again.'],
        mapping: ['the robot is mapping and not positioned on a map', 'Finish and store the map, then select it.'],
        unknown: [`'${value.state}' is not a positioning state of the vendor texts`],
      },
    })),
    battery: one('battery', '/battery_state', 'Battery', battery, ({ percent, orPercent }) => {
      const shown = percent.toFixed(0);
      const either = chargeText(percent, orPercent ?? percent);
      return {
        reported: orPercent === undefined ? Math.round(percent * 10) / 10 : either,
        texts: {
          enough: [`${shown} %`],
          critical: [`CRITICAL: ${shown} %, below ${CRITICAL_BATTERY_PERCENT} %`, charge],
          low: [`LOW: ${shown} %, below ${LOW_BATTERY_PERCENT} %`, charge],
          doubtful: [
            `${either}: not decided, since a chassis that counts to 100 sends 1 too`,
            'Compare the charge with the display of the robot, and probe again after it has driven for a while: a value between 0 and 1 decides.',
          ],
        },
      };
    }),
    power: one('power', '/battery_state', 'Power supply', battery, ({ status, percent }) => ({
      reported: status,
      texts: {
        known: [status],
        doubtful: [`'full', and the charge is not decided`],
        contradictory: [
          `reported 'full' at ${percent.toFixed(0)} %`,
          'Compare the charge with the display of the robot, and report the software version.',
        ],
        unknown: [`'${status}' is not a power status of the vendor texts`],
      },
    })),
    alerts: one('alerts', '/alerts', 'Alerts', alerts, (value) => {
      const more = value.length > 5 ? `; and ${value.length - 5} more` : '';
      const listed = `${value.length} active: ${value.slice(0, 5).map(alertText).join('; ')}${more}`;
      return {
        reported: value.map((alert) => ({ ...alert })),
        texts: {
          none: ['none active'],
          active: [listed, 'Clear the causes of the alerts on the robot; the vendor documents the codes.'],
          'without-level': [listed],
        },
      };
    }),
  };
}

function textOf({ state, missing }: JudgedCondition, { topic, live, texts }: Description): Text {
  if (missing === null) return texts[state] ?? [''];
  const ago = live.status === 'received' ? `${(live.ageMs / 1_000).toFixed(1)} s ago` : '';
  const fault = live.rejected ?? 'malformed';
  const missed: Readonly<Record<NotChecked, Text>> = {
    'not-received': [`${topic} was not received`],
    rejected: [`every message of ${topic} was rejected: ${fault}`, REJECTED_REMEDY],
    'no-connection': [`no connection; ${topic} was last received ${ago}`],
    'not-received-since-reconnect': [`${topic} was not received since the connection came back`],
    'too-old': [`${topic} was last received ${ago}`],
    'newer-rejected': [`the newest message of ${topic} was rejected: ${fault}`, REJECTED_REMEDY],
  };
  return missed[missing];
}

/** `100 % or 1 %` */
const chargeText = (percent: number, orPercent: number): string =>
  `${Number(percent.toFixed(1))} % or ${Number(orPercent.toFixed(1))} %`;

const components = factById('vendor.alert-components').value as Readonly<Record<string, string>>;
const DISPUTED_CODE = factById('vendor.alert-8004').value as number;

/** `7005 error 'position lost' (positioning)`; the meaning of the thousands is HINWEIS. */
function alertText({ code, level, message }: Alert): string {
  const component = components[String(Math.floor(code / 1_000))];
  const reading = code === DISPUTED_CODE ? 'flip error or battery board: vendor texts disagree' : component;
  return `${code} ${level} '${message}'${reading === undefined ? '' : ` (${reading})`}`;
}
