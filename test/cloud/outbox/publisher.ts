import type { Publisher } from '../../../src/lib/cloud/outbox/model.ts';

export interface Published {
  readonly topic: string;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it
  readonly json: any;
  acknowledge(): void;
  fail(error: unknown): void;
}

/** A publisher that a test answers: nothing is acknowledged by itself, unless `isPrompt`. */
export function createPublisher(isPrompt = false): Publisher & { readonly published: Published[] } {
  const published: Published[] = [];
  return {
    published,
    publish(topic, payload) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const text = Buffer.from(payload).toString();
      published.push({ topic, text, json: JSON.parse(text), acknowledge: resolve, fail: reject });
      if (isPrompt) resolve();
      return promise;
    },
  };
}
