/** Limits of the broker for each connection. */
export interface BrokerLimits {
  /** A larger payload closes the connection. */
  readonly maxPayloadBytes: number;
  /** Sent and received; further publishes of the client are discarded without PUBACK. */
  readonly maxPublishesPerSecond: number;
  /** Unacknowledged publishes of the client with QoS 1; further ones are discarded without PUBACK. */
  readonly maxInFlight: number;
  /** More topic filters in one SUBSCRIBE close the connection. */
  readonly maxFiltersPerSubscribe: number;
  /** More topic filters on one connection close it. */
  readonly maxSubscriptions: number;
  readonly maxTopicBytes: number;
  readonly maxSlashes: number;
}

/** @source vendor, quota pages (HINWEIS) */
export const vendorLimits: BrokerLimits = {
  maxPayloadBytes: 128 * 1024,
  maxPublishesPerSecond: 100,
  maxInFlight: 100,
  maxFiltersPerSubscribe: 8,
  maxSubscriptions: 50,
  maxTopicBytes: 256,
  maxSlashes: 7,
};

/** Why the broker ignored a publish: without PUBACK, as a common vendor does. */
export type DiscardedPublish = 'qos-2' | 'rate' | 'in-flight';

/**
 * Why a topic or filter is not allowed for a device; undefined when it is. Its serial number must be one of the path
 * elements.
 */
export function topicProblem(topic: string, serial: string, limits: BrokerLimits): string | undefined {
  const elements = topic.split('/');
  if (Buffer.byteLength(topic) > limits.maxTopicBytes) return `a topic of more than ${limits.maxTopicBytes} bytes`;
  if (elements.length - 1 > limits.maxSlashes) return `a topic with more than ${limits.maxSlashes} slashes`;
  if (!elements.includes(serial)) return `the topic '${topic}' without its serial number`;
  return undefined;
}
