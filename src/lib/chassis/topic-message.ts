import type { z } from 'zod';
import { quote, readJson } from '../json/index.ts';
import { type KnownTopic, misfit, numbersAsText, topicSchemas, topicsEnabledSchema } from './schema.ts';

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

export function parseTopicMessage(text: string): TopicMessage {
  const reading = readJson(text);
  if (!reading.ok) return complaint(`a message: ${reading.problem}`);
  const { value } = reading;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return complaint('a message is JSON, but not an object');
  }
  const { topic } = value as { topic?: unknown };
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
  return { kind: 'data', topic, data: result.data, text } as TopicMessage;
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
  const text = `${paths.length === 1 ? 'number' : 'numbers'} sent as text in ${named.join(', ')}${more}`;
  return others === null ? text : `${text}; ${topic}: ${misfit(others)}`;
}

function complaint(what: string): TopicMessage {
  return { kind: 'complaint', what };
}

/** Names of topics in a complaint. */
export function topicNames(topics: readonly string[]): string {
  return topics.map((topic) => quote(topic).slice(1, -1)).join(', ');
}
