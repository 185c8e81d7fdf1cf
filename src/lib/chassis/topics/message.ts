import type { z } from 'zod';
import {
  createJsonScanner,
  isRecord,
  type JsonBounds,
  problemOfFinding,
  quote,
  readJson,
  readJsonBytes,
} from '../../json/index.ts';
import { pluralWord } from '../../text/index.ts';
import { type KnownTopic, misfit, numbersAsText, topicSchemas, topicsEnabledSchema } from '../schema.ts';

type Shape<T extends KnownTopic> = z.output<(typeof topicSchemas)[T]>;

/** A data message of a topic that gw reads. */
export type TopicData = { [T in KnownTopic]: { readonly topic: T; readonly data: Shape<T> } }[KnownTopic];

/** What one text frame of the topic stream turned out to be. Nothing foreign makes the reader throw. */
export type TopicMessage =
  /** `text`: the frame as it came, since numbers that were parsed have lost digits. */
  | ({ readonly kind: 'data'; readonly text: string } & TopicData)
  /** The acknowledgement: the full set of this connection. */
  | { readonly kind: 'enabled'; readonly topics: readonly string[] }
  /** Sound, but of a topic that gw does not read. */
  | { readonly kind: 'other'; readonly topic: string }
  /** `topic` is set where a message of that topic was rejected: its values stay what they were before. */
  | { readonly kind: 'complaint'; readonly what: string; readonly topic?: KnownTopic };

/** Frames up to here are read at once. */
const SMALL_BYTES = 8 * 1024;
/** Decisions of ours: what of a larger one is read, without the drawings that a map is announced with. */
const MOST_READ_BYTES = 64 * 1024;
const readBounds: JsonBounds = { maxDepth: 200, maxValues: 5_000 };
/** Decision of ours: what a frame may hold in all; it has at most 16 MiB, and nothing is made of most of it. */
const frameBounds: JsonBounds = { maxDepth: 200, maxValues: 4_000_000 };
const PIECE_BYTES = 64 * 1024;

/**
 * Reads one text frame step by step. Of a large one the drawings (`overlays`) are left out of `data` and are in `text`
 * only: they may be millions of values, and nobody who listens all the time looks at them.
 */
export function* readTopicFrame(frame: Buffer): Generator<undefined, TopicMessage> {
  if (frame.length <= SMALL_BYTES) return parseTopicMessage(frame.toString('utf8'));
  // Of doubled ones the first: the other is found as a key that comes twice.
  let drawings: readonly [number, number] | undefined;
  const scanner = createJsonScanner(frameBounds, ({ key: [from, to], value }) => {
    if (frame.toString('latin1', from, to) === '"overlays"') drawings ??= value;
  });
  for (let from = 0; from < frame.length; from += PIECE_BYTES) {
    if (!scanner.push(frame, from, Math.min(from + PIECE_BYTES, frame.length))) break;
    yield;
  }
  const problem = problemOfFinding(scanner.end(), frameBounds, 'message');
  if (problem !== null) return complaint(`a message: ${problem}`);
  const [from, to] = drawings ?? [0, 0];
  const isCut = to > from;
  if (frame.length - (to - from) > MOST_READ_BYTES) return complaint('a message is larger than a message may be');
  const rest = isCut ? Buffer.concat([frame.subarray(0, from), Buffer.from('null'), frame.subarray(to)]) : frame;
  const reading = readJsonBytes(rest, 'message', readBounds);
  if (!reading.ok) return complaint(`a message: ${reading.problem}`);
  if (isCut) delete (reading.value as { overlays?: unknown }).overlays;
  return messageOf(reading.value, () => frame.toString('utf8'));
}

/** The same at once, for a text that is known to be small. */
export function parseTopicMessage(text: string): TopicMessage {
  const reading = readJson(text);
  if (!reading.ok) return complaint(`a message: ${reading.problem}`);
  return messageOf(reading.value, () => text);
}

function messageOf(value: unknown, textOf: () => string): TopicMessage {
  if (!isRecord(value)) {
    return complaint('a message is JSON, but not an object');
  }
  const { topic } = value;
  if (topic === undefined) {
    const enabled = topicsEnabledSchema.safeParse(value);
    return enabled.success
      ? { kind: 'enabled', topics: enabled.data.enabled_topics }
      : complaint('a message names no topic');
  }
  if (typeof topic !== 'string') return complaint('a message names a topic that is no text');
  if (!isKnownTopic(topic)) return { kind: 'other', topic };
  const result = topicSchemas[topic].safeParse(value);
  if (!result.success) return { kind: 'complaint', what: misfitOf(topic, result.error, value), topic };
  return {
    kind: 'data',
    topic,
    data: result.data,
    get text() {
      return textOf();
    },
  } as TopicMessage;
}

function isKnownTopic(topic: string): topic is KnownTopic {
  return Object.hasOwn(topicSchemas, topic);
}

/**
 * A number that came as text is named as such: with the plain 'expected number, received string' somebody would look
 * for what is missing on the robot, where its software writes what it must not.
 */
function misfitOf(topic: KnownTopic, error: z.ZodError, value: unknown): string {
  const { paths, others } = numbersAsText(error, value);
  const [first] = paths;
  if (first === undefined) return `${topic}: ${misfit(error)}`;
  const named = paths.slice(0, 4).map((path) => `${topic}.${path}`);
  const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : '';
  const text = `${pluralWord(paths.length, 'number')} sent as text in ${named.join(', ')}${more}`;
  return others === null ? text : `${text}; ${topic}: ${misfit(others)}`;
}

function complaint(what: string): TopicMessage {
  return { kind: 'complaint', what };
}

/** Names of topics in a complaint. */
export function topicNames(topics: readonly string[]): string {
  return topics.map((topic) => quote(topic).slice(1, -1)).join(', ');
}
