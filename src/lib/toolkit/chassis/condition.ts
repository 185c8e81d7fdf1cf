import {
  type Alert,
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
  return judgeCondition(values).map((condition) => {
    const { topic, title, value } = about(condition, values);
    const live = liveOf(condition, values);
    return {
      id: condition.id,
      title,
      verdict: condition.verdict,
      ...explanationOf(condition, topic, live, values),
      missing: condition.missing,
      reported:
        live.status === 'not-received'
          ? null
          : { value, ...evidenceOf(live), ...(condition.id === 'battery' && { unit: 'percent' }), ageMs: live.ageMs },
    } as RobotCondition;
  });
}

/** The same as findings of a check. */
export function conditionFindings(conditions: readonly RobotCondition[]): Finding[] {
  return conditions.map(({ id, title, verdict, detail, remedy }) => ({
    id,
    title,
    verdict,
    detail,
    remedy,
    spec: 'Chassis interface',
  }));
}

function liveOf({ id }: JudgedCondition, { wheels, positioning, battery, alerts }: LiveValues): LiveValue<unknown> {
  switch (id) {
    case 'emergency-stop':
    case 'control-mode':
      return wheels;
    case 'positioning':
      return positioning;
    case 'battery':
    case 'power':
      return battery;
    case 'alerts':
      return alerts;
  }
}

function evidenceOf({ mark, basis, source }: Extract<LiveValue<unknown>, { status: 'received' }>) {
  return { mark, basis, source };
}

function about({ id }: JudgedCondition, values: LiveValues) {
  const { wheels, positioning, battery, alerts } = values;
  const of = <T, V>(live: LiveValue<T>, pick: (value: T) => V): V | null =>
    live.status === 'not-received' ? null : pick(live.value);
  switch (id) {
    case 'emergency-stop':
      return {
        topic: '/wheel_state',
        title: 'Emergency stop',
        value: of(wheels, ({ emergencyStopPressed }) => emergencyStopPressed),
      };
    case 'control-mode':
      return { topic: '/wheel_state', title: 'Control mode', value: of(wheels, ({ controlMode }) => controlMode) };
    case 'positioning':
      return { topic: '/slam/state', title: 'Positioning', value: of(positioning, (value) => ({ ...value })) };
    case 'battery':
      return {
        topic: '/battery_state',
        title: 'Battery',
        value: of(battery, ({ percent, orPercent }) =>
          orPercent === undefined ? Math.round(percent * 10) / 10 : chargeText(percent, orPercent),
        ),
      };
    case 'power':
      return { topic: '/battery_state', title: 'Power supply', value: of(battery, ({ status }) => status) };
    case 'alerts':
      return { topic: '/alerts', title: 'Alerts', value: of(alerts, (value) => value.map((alert) => ({ ...alert }))) };
  }
}

interface Explanation {
  readonly detail: string;
  readonly remedy: string | null;
}

function explanationOf(
  condition: JudgedCondition,
  topic: string,
  live: LiveValue<unknown>,
  values: LiveValues,
): Explanation {
  if (condition.state === 'missing') return explainMissing(condition.missing, topic, live);
  const { detail, remedy } = explanationOfState(condition, values);
  if (live.rejected === undefined) return { detail, remedy };
  return explain(
    `${detail}; the newest message of ${topic} is malformed: ${live.rejected}`,
    [remedy, REJECTED_REMEDY].filter((text) => text !== null).join(' '),
  );
}

function explanationOfState(condition: JudgedCondition, values: LiveValues): Explanation {
  switch (condition.id) {
    case 'emergency-stop':
      return condition.state === 'pressed'
        ? explain('PRESSED', 'Remove the reason for the stop, then release the button on the robot.')
        : explain('not pressed');
    case 'control-mode':
      return explainControlMode(
        condition.state,
        textOf(values.wheels, ({ controlMode }) => controlMode),
      );
    case 'positioning':
      return explainPositioning(
        condition.state,
        textOf(values.positioning, ({ state }) => state),
      );
    case 'battery':
      return explainBattery(condition.state, values);
    case 'power':
      return explainPower(condition.state, values);
    case 'alerts':
      return explainAlerts(condition.state, values.alerts.status === 'not-received' ? [] : values.alerts.value);
  }
}

const explain = (detail: string, remedy: string | null = null): Explanation => ({ detail, remedy });

function textOf<T>(live: LiveValue<T>, pick: (value: T) => string): string {
  return live.status === 'not-received' ? '' : pick(live.value);
}

function explainMissing(missing: NotChecked, topic: string, live: LiveValue<unknown>): Explanation {
  const seconds = live.status === 'not-received' ? '' : `${(live.ageMs / 1_000).toFixed(1)} s ago`;
  const texts: Readonly<Record<NotChecked, string>> = {
    'not-received': `${topic} was not received`,
    rejected: `every message of ${topic} was rejected: ${live.rejected ?? 'malformed'}`,
    'no-connection': `no connection; ${topic} was last received ${seconds}`,
    'not-received-since-reconnect': `${topic} was not received since the connection came back`,
    'too-old': `${topic} was last received ${seconds}`,
    'newer-rejected': `the newest message of ${topic} was rejected: ${live.rejected ?? 'malformed'}`,
  };
  return explain(texts[missing], missing === 'rejected' || missing === 'newer-rejected' ? REJECTED_REMEDY : null);
}

/** Remedy for rejected messages: a map or a position would not help. */
export const REJECTED_REMEDY =
  'Report the software version of the chassis with this text; gw rejects messages with malformed fields.';

function explainControlMode(state: string, mode: string): Explanation {
  switch (state) {
    case 'auto':
      return explain('auto');
    case 'not-auto':
      return explain(
        `'${mode}': the robot carries out no move orders`,
        'Switch the robot to automatic mode on the robot or in its own app.',
      );
    case 'unreadable':
      return explain(`auto; wheels_released of /wheel_state is malformed`, REJECTED_REMEDY);
    case 'wheels-released':
      return explain('auto, but the wheels are released', 'Engage the wheels on the robot.');
    default:
      return explain(`'${mode}' is not a control mode of the vendor texts`);
  }
}

function explainPositioning(state: string, reported: string): Explanation {
  const again = 'Set the position of the robot again, then probe again.';
  switch (state) {
    case 'reliable':
      return explain('reliable');
    case 'lost':
      return explain('LOST', again);
    case 'poor':
      return explain('poor', again);
    case 'unreadable':
      return explain('reliable; position_quality of /slam/state is malformed', REJECTED_REMEDY);
    case 'inactive':
      return explain('inactive', 'Set a map and a position on the chassis, then probe again.');
    case 'mapping':
      return explain('the robot is mapping and not positioned on a map', 'Finish and store the map, then select it.');
    default:
      return explain(`'${reported}' is not a positioning state of the vendor texts`);
  }
}

/** `100 % or 1 %` */
const chargeText = (percent: number, orPercent: number): string =>
  `${Number(percent.toFixed(1))} % or ${Number(orPercent.toFixed(1))} %`;

function explainBattery(state: string, { battery }: LiveValues): Explanation {
  const percent = textOf(battery, (value) => value.percent.toFixed(0));
  const remedy = `Charge it to at least ${LOW_BATTERY_PERCENT} % before it drives.`;
  switch (state) {
    case 'critical':
      return explain(`CRITICAL: ${percent} %, below ${CRITICAL_BATTERY_PERCENT} %`, remedy);
    case 'doubtful':
      return explain(
        `${textOf(battery, ({ percent: share, orPercent = share }) => chargeText(share, orPercent))}: ` +
          'not decided, since a chassis that counts to 100 sends 1 too',
        'Compare the charge with the display of the robot, and probe again after it has driven for a while: a value between 0 and 1 decides.',
      );
    case 'low':
      return explain(`LOW: ${percent} %, below ${LOW_BATTERY_PERCENT} %`, remedy);
    default:
      return explain(`${percent} %`);
  }
}

function explainPower(state: string, { battery }: LiveValues): Explanation {
  const status = textOf(battery, (value) => value.status);
  const percent = textOf(battery, (value) => value.percent.toFixed(0));
  switch (state) {
    case 'known':
      return explain(status);
    case 'doubtful':
      return explain(`'full', and the charge is not decided`);
    case 'contradictory':
      return explain(
        `reported 'full' at ${percent} %`,
        'Compare the charge with the display of the robot, and report the software version.',
      );
    default:
      return explain(`'${status}' is not a power status of the vendor texts`);
  }
}

function explainAlerts(state: string, alerts: readonly Alert[]): Explanation {
  if (state === 'none') return explain('none active');
  const texts = alerts.slice(0, 5).map(alertText).join('; ');
  const more = alerts.length > 5 ? `; and ${alerts.length - 5} more` : '';
  const count = `${alerts.length} active`;
  return explain(
    `${count}: ${texts}${more}`,
    state === 'active' ? 'Clear the causes of the alerts on the robot; the vendor documents the codes.' : null,
  );
}

const components = factById('vendor.alert-components').value as Readonly<Record<string, string>>;
const DISPUTED_CODE = factById('vendor.alert-8004').value as number;

/** `7005 error 'position lost' (positioning)`; the meaning of the thousands is HINWEIS. */
function alertText({ code, level, message }: Alert): string {
  const component = components[String(Math.floor(code / 1_000))];
  const reading = code === DISPUTED_CODE ? 'flip error or battery board: vendor texts disagree' : component;
  return `${code} ${level} '${message}'${reading === undefined ? '' : ` (${reading})`}`;
}
