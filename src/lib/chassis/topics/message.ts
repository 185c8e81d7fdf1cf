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
import { type Said, saidIn, saidInFrame, saidInText, saysAnything } from '../closing.ts';
import { type KnownTopic, misfit, numbersAsText, topicSchemas, topicsEnabledSchema } from '../schema.ts';

type Shape<T extends KnownTopic> = z.output<(typeof topicSchemas)[T]>;

/** A data message of a topic that gw reads. */
export type TopicData = { [T in KnownTopic]: { readonly topic: T; readonly data: Shape<T> } }[KnownTopic];

/** A parsed text frame of the topic stream. The parser never throws. */
export type TopicMessage =
  /** `text`: the original frame, since parsed numbers lose digits. */
  | ({ readonly kind: 'data'; readonly text: string } & TopicData)
  /** The acknowledgement: the full set of this connection. */
  | { readonly kind: 'enabled'; readonly topics: readonly string[] }
  /** Valid, but of a topic that gw does not read. */
  | { readonly kind: 'other'; readonly topic: string }
  | Complaint;

export interface Complaint {
  readonly kind: 'complaint';
  readonly what: string;
  /** Set where an answer did not come in time: that says less than a wrong one, because a busy machine causes it as well. */
  readonly isLate?: true;
  /** Set where a message of that topic was rejected: nothing that permits a drive is taken from it. */
  readonly topic?: KnownTopic;
  /** Set where the rejected message says something against a drive, or may have been of several topics. */
  readonly said?: Said;
}

/** Frames up to this size are parsed at once. */
const SMALL_BYTES = 8 * 1024;
/** Project decisions: how much of a larger frame is parsed, without the overlays of `/map/info`. */
const MAX_READ_BYTES = 64 * 1024;
const readBounds: JsonBounds = { maxDepth: 200, maxValues: 5_000 };
/** Project decision: bounds of a whole frame (at most 16 MiB), most of which is only scanned. */
const frameBounds: JsonBounds = { maxDepth: 200, maxValues: 4_000_000 };
const PIECE_BYTES = 64 * 1024;

/** The same at once, for a small text. */
export function parseTopicMessage(text: string): TopicMessage {
  const reading = readJson(text);
  if (!reading.ok) return complaint(`malformed message: ${reading.problem}`, saidInText(text));
  return messageOf(reading.value, () => text);
}

/**
 * Parses one text frame step by step. In a large frame `overlays` is left out of `data` and kept in `text` only: it
 * may have millions of values, and the live state does not use it.
 */
export function* readTopicFrame(frame: Buffer): Generator<undefined, TopicMessage> {
  if (frame.length <= SMALL_BYTES) return parseTopicMessage(frame.toString('utf8'));
  // The first of duplicate keys: the second one is reported as a duplicate.
  let overlays: readonly [number, number] | undefined;
  const scanner = createJsonScanner(frameBounds, ({ key: [from, to], value }) => {
    if (frame.toString('latin1', from, to) === '"overlays"') overlays ??= value;
  });
  for (let from = 0; from < frame.length; from += PIECE_BYTES) {
    if (!scanner.push(frame, from, Math.min(from + PIECE_BYTES, frame.length))) break;
    yield;
  }
  const problem = problemOfFinding(scanner.end(), frameBounds, 'message');
  if (problem !== null) return unreadable(`malformed message: ${problem}`, frame);
  const [from, to] = overlays ?? [0, 0];
  const isCut = to > from;
  if (frame.length - (to - from) > MAX_READ_BYTES)
    return unreadable(`message larger than ${MAX_READ_BYTES / 1024} KiB without its overlays`, frame);
  const rest = isCut ? Buffer.concat([frame.subarray(0, from), Buffer.from('null'), frame.subarray(to)]) : frame;
  const reading = readJsonBytes(rest, 'message', readBounds);
  if (!reading.ok) return unreadable(`malformed message: ${reading.problem}`, frame);
  if (isCut) delete (reading.value as { overlays?: unknown }).overlays;
  return messageOf(reading.value, () => frame.toString('utf8'));
}

function messageOf(value: unknown, textOf: () => string): TopicMessage {
  if (!isRecord(value)) {
    return complaint('message is JSON, but not an object', saidInText(textOf()));
  }
  const { topic } = value;
  if (topic === undefined) {
    const enabled = topicsEnabledSchema.safeParse(value);
    return enabled.success
      ? { kind: 'enabled', topics: enabled.data.enabled_topics }
      : complaint('message without a topic', saidIn(Object.entries(value), []));
  }
  if (typeof topic !== 'string') {
    return complaint('message whose topic is not a string', saidIn(Object.entries(value), []));
  }
  if (!isKnownTopic(topic)) {
    const said = saidIn(Object.entries(value), []);
    return saysAnything(said)
      ? complaint(`message of the topic ${quote(topic)}, with members of ${said.topics.join(', ')}`, said)
      : { kind: 'other', topic };
  }
  const result = topicSchemas[topic].safeParse(value);
  if (!result.success) {
    return complaint(misfitOf(topic, result.error, value), saidIn(Object.entries(value), [topic]), topic);
  }
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
 * A number sent as text is reported as such: 'expected number, received string' would suggest a fault of the robot
 * instead of its software.
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

function complaint(what: string, said: Said, topic: KnownTopic | undefined = said.topics[0]): Complaint {
  const isSaid = saysAnything(said) || said.topics.length > 1;
  return { kind: 'complaint', what, ...(topic !== undefined && { topic }), ...(isSaid && { said }) };
}

/** A message that was not parsed: what its text says. */
export function unreadable(what: string, frame: Buffer): Complaint {
  return complaint(what, saidInFrame(frame));
}

/** Names of topics in a complaint. */
export function topicNames(topics: readonly string[]): string {
  return topics.map((topic) => quote(topic).slice(1, -1)).join(', ');
}
