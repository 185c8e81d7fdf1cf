import { isRecord } from '../json/index.ts';
import type { Alert, Positioning, Wheels } from './model.ts';
import { type KnownTopic, knownTopics, MAX_TEXT } from './schema.ts';

/** States of a move that is not under way. @source chassis vendor (HINWEIS) */
const ENDED: readonly string[] = ['none', 'idle', 'succeeded', 'failed', 'cancelled'];

/** Progress of a move from its reported state; null: no state was received over the present connection. */
export function moveProgress(moveState: string | null): 'under-way' | 'ended' | 'not-known' {
  if (moveState === 'moving') return 'under-way';
  return moveState !== null && ENDED.includes(moveState) ? 'ended' : 'not-known';
}

/**
 * What a message of the chassis may open or close (project decision): what permits a drive must be read well; what
 * forbids it counts from any message that says it, however malformed the rest; and a message that cannot be read
 * forbids what it might have forbidden, until one of its topic is read well.
 * @source fields and values: vendor description (HINWEIS)
 */

/** Members of a message: from JSON, or found in a text that is none. A name may occur twice. */
export type Fields = readonly (readonly [name: string, value: unknown])[];

/** What a rejected message says against a drive. Nothing in it permits one. */
export interface Said {
  /** The topics whose messages this was, or may have been. */
  readonly topics: readonly KnownTopic[];
  readonly wheels: Partial<Wheels>;
  readonly positioning: Partial<Positioning>;
  readonly alerts: readonly Alert[];
  /** A running move. */
  readonly isMoving: boolean;
  /** A charge above 1, which no share of 1 can be. */
  readonly countsToHundred: boolean;
}

const trueWords: readonly string[] = ['true', 't', 'yes', 'y', 'on', 'pressed', 'active'];
const falseWords: readonly string[] = ['false', 'f', 'no', 'n', 'off', '0'];
/** `position_quality` (vendor SDK, HINWEIS): 0 unknown, 1 lost, 3 poor, 8 good, 10 excellent. */
export const LOST_QUALITY = 1;
const MAX_ALERTS = 500;

const wordOf = (text: string): string => text.trim().toLowerCase();

/** In any spelling: `true`, `1`, `"True"`, `"yes"`. For what forbids a drive only: what permits one is a `boolean`. */
export function saysYes(value: unknown): boolean {
  if (typeof value === 'number') return value !== 0;
  if (typeof value !== 'string') return value === true;
  const word = wordOf(value);
  return trueWords.includes(word) || (word !== '' && Number.isFinite(Number(word)) && Number(word) !== 0);
}

/** In any spelling: `false`, `0`, `"False"`, `"no"`. For what forbids a drive only. */
function saysNo(value: unknown): boolean {
  if (typeof value === 'number') return value === 0;
  if (typeof value !== 'string') return value === false;
  const word = wordOf(value);
  return falseWords.includes(word) || (word !== '' && Number(word) === 0);
}

/** `1` or `"1"`. */
export function saysLostQuality(value: unknown): boolean {
  return value === LOST_QUALITY || (typeof value === 'string' && value.trim() !== '' && Number(value) === LOST_QUALITY);
}

/** By these fields a message is of that topic, whatever it says about its topic. */
const topicOfField: Readonly<Record<string, KnownTopic>> = {
  emergency_stop_pressed: '/wheel_state',
  reliable: '/slam/state',
};

/** What a rejected message of these topics says. */
export function saidIn(fields: Fields, named: readonly KnownTopic[]): Said {
  const byField = fields.flatMap(([name]) => (Object.hasOwn(topicOfField, name) ? [topicOfField[name]] : []));
  const topics = knownTopics.filter((topic) => named.includes(topic) || byField.includes(topic));
  const of = (topic: KnownTopic, name: string): unknown[] =>
    topics.includes(topic) ? fields.filter(([field]) => field === name).map(([, value]) => value) : [];
  const modes = of('/wheel_state', 'control_mode').filter((mode) => typeof mode === 'string' && mode !== 'auto');
  const states = of('/slam/state', 'state').filter((state) => typeof state === 'string');
  const isUnreliable = of('/slam/state', 'reliable').some(saysNo);
  const isLost = of('/slam/state', 'position_quality').some(saysLostQuality);
  const isInactive = states.includes('inactive');
  return {
    topics,
    wheels: {
      ...(of('/wheel_state', 'emergency_stop_pressed').some(saysYes) && { emergencyStopPressed: true }),
      ...(of('/wheel_state', 'wheels_released').some(saysYes) && { wheelsReleased: true }),
      ...(modes.length > 0 && { controlMode: String(modes[0]).slice(0, MAX_TEXT) }),
    },
    positioning: {
      ...((isUnreliable || isLost || isInactive) &&
        states.length > 0 && { state: isInactive ? 'inactive' : String(states[0]).slice(0, MAX_TEXT) }),
      ...(isUnreliable && { reliable: false }),
      ...(isLost && { quality: LOST_QUALITY }),
    },
    alerts: of('/alerts', 'alerts').flatMap(alertsIn).slice(0, MAX_ALERTS),
    isMoving: of('/planning_state', 'move_state').some(
      (state) => typeof state === 'string' && moveProgress(wordOf(state)) === 'under-way',
    ),
    countsToHundred: of('/battery_state', 'percentage').some(
      (share) => (typeof share === 'number' || typeof share === 'string') && Number(share) > 1,
    ),
  };
}

/** Whether it says something that counts. */
export function saysAnything({ wheels, positioning, alerts, isMoving, countsToHundred }: Said): boolean {
  return (
    isMoving || countsToHundred || alerts.length > 0 || Object.keys(wheels).length + Object.keys(positioning).length > 0
  );
}

function alertsIn(list: unknown): Alert[] {
  if (!Array.isArray(list)) return [];
  return list.slice(0, MAX_ALERTS).flatMap((entry: unknown) => {
    if (!isRecord(entry)) return [];
    const { code, level, msg } = entry;
    const number = typeof code === 'string' && code.trim() !== '' ? Number(code) : code;
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) return [];
    const text = (value: unknown, otherwise: string) =>
      typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT) : otherwise;
    return [{ code: number, level: text(level, 'unknown'), message: text(msg, '') }];
  });
}

/** Bytes at either end of a frame that are searched. */
const SEARCHED = 64 * 1024;
const member =
  /"(topic|emergency_stop_pressed|wheels_released|control_mode|reliable|position_quality|state|move_state)"\s*:\s*("(?:[^"\\]|\\.)*"|[^\s,}\]"]+)/g;

/** What a text says that is no message: broken JSON, a name given twice, a list of messages. */
export function saidInText(text: string): Said {
  const fields = [...text.matchAll(member)].map(
    ([, name, value]) => [name as string, plainValue(value as string)] as const,
  );
  const topics = fields.filter(([name]) => name === 'topic').map(([, value]) => value);
  return saidIn(
    fields,
    knownTopics.filter((topic) => topics.includes(topic)),
  );
}

/** The same of a frame of any size. */
export function saidInFrame(frame: Buffer): Said {
  const ends = [frame.subarray(0, SEARCHED), frame.subarray(Math.max(SEARCHED, frame.length - SEARCHED))];
  return saidInText(ends.map((end) => end.toString('latin1')).join(frame.length > 2 * SEARCHED ? '\n' : ''));
}

function plainValue(token: string): unknown {
  try {
    return JSON.parse(token);
  } catch {
    return token;
  }
}

const base = { emergencyStopPressed: true, controlMode: 'unknown' } as const;

/** The last well-read value with what a later rejected message said against a drive; null where there is nothing. */
export function wheelsAfter(last: Wheels | null, { wheels }: Said): Wheels | null {
  if (Object.keys(wheels).length === 0) return last;
  // Without a well-read message only 'pressed' is known to be true of the emergency stop.
  if (last === null) return wheels.emergencyStopPressed === true ? { ...base, ...wheels } : null;
  return { ...last, ...wheels };
}

export function positioningAfter(last: Positioning | null, { positioning }: Said): Positioning | null {
  if (Object.keys(positioning).length === 0) return last;
  return { ...(last ?? { state: 'unknown', reliable: false }), ...positioning };
}

export function alertsAfter(last: readonly Alert[] | null, { alerts }: Said): readonly Alert[] | null {
  const isNew = ({ code, level, message }: Alert) =>
    last?.some((old) => old.code === code && old.level === level && old.message === message) !== true;
  const added = alerts.filter(isNew);
  return added.length === 0 ? last : [...(last ?? []), ...added].slice(0, MAX_ALERTS);
}
