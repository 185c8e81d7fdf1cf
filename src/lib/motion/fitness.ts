import { type Alert, effectOf, type LiveValues, type Obstacle, obstaclesIn } from '../chassis/index.ts';

/** The levels that close nothing (vendor SDK, HINWEIS). Any other, also an unknown one, counts as an error. Project decision. */
const mildLevels: readonly string[] = ['warning', 'none'];
/**
 * 'no progress' (vendor, HINWEIS): the robot waits in front of an obstacle, and its chassis continues or ends the move
 * itself. Project decision: it cancels no move.
 */
const NO_PROGRESS = 1008;

/** The active alerts that close the gate for drives, without those that a person passes by their numbers. */
export function closingAlerts({ alerts }: LiveValues, although: readonly number[] = []): readonly Alert[] {
  if (alerts.status !== 'received') return [];
  return alerts.value.filter(({ code, level }) => !mildLevels.includes(level) && !although.includes(code));
}

/**
 * Why an order is refused by what the robot reports, one sentence each. Vendor values (HINWEIS) only add refusals, so a value
 * not received is not judged. Only alerts can be passed.
 */
export function unfitness(
  kind: 'drive' | 'pose',
  values: LiveValues,
  although: readonly number[] = [],
): readonly string[] {
  const refusing = obstaclesIn(values).filter((obstacle) => effectOf(obstacle).refuses.includes(kind));
  const alerts = kind === 'pose' ? [] : closingAlerts(values, although);
  return [
    ...refusing.map(obstacleText),
    ...alerts.map(
      (alert) => `The robot reports ${alertText(alert)}; a person who has judged it may pass it by its number.`,
    ),
  ];
}

/** Why the reported pose proves no arrival, one sentence; null where nothing speaks against it. */
export function arrivalDoubt(values: LiveValues): string | null {
  const spoiling = obstaclesIn(values).find((obstacle) => effectOf(obstacle).spoilsArrival);
  return spoiling === undefined ? null : obstacleText(spoiling);
}

/** What ends a running drive, one sentence; null where nothing does. */
export function unfitUnderWay(values: LiveValues, although: readonly number[] = []): string | null {
  const ending = obstaclesIn(values).find((obstacle) => effectOf(obstacle).endsDrive);
  if (ending !== undefined) return obstacleText(ending);
  const [alert] = closingAlerts(values, [...although, NO_PROGRESS]);
  return alert === undefined ? null : `The robot reports ${alertText(alert)}.`;
}

/** One sentence. */
export function obstacleText(obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case 'emergency-stop':
      return 'The emergency stop of the robot is pressed.';
    case 'wheels-released':
      return 'The wheels of the robot are released.';
    case 'control-mode':
      return `The robot is in control mode '${obstacle.mode}', so it executes no move orders.`;
    case 'position-lost':
      return `The robot has lost its position (localisation '${obstacle.state}' is not reliable).`;
    case 'mapping':
      return "The robot is mapping (localisation 'slam').";
    case 'position-poor':
      return 'The robot is not sure of its position (its quality is poor).';
    case 'unreadable':
      return (
        `A message of ${obstacle.topic} could not be read (${obstacle.why}), and none has been read well since: ` +
        'what it says against a drive is not known.'
      );
  }
}

function alertText({ code, level, message }: Alert): string {
  const text = message === '' ? '' : `: ${message}`;
  return level === 'error' ? `error ${code}${text}` : `alert ${code} of the unknown level '${level}'${text}`;
}
