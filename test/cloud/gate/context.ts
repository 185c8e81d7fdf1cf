import type { GateContext, InboundMessage, OwnRequest } from '../../../src/lib/cloud/gate/model.ts';
import { topicsOf } from '../../../src/lib/cloud/topics.ts';
import { parseSite } from '../../../src/lib/site/index.ts';

export const serial = 'SN0001';

/** The default templates of the site file. */
export const templates = (() => {
  const text = `name: Lobby
chassis: { host: 127.0.0.1, serial: ${serial} }
cloud: { mqtt: { host: mqtt.example.com, alpn: x-example-mqtt-ca } }
`;
  const { cloud } = parseSite(text, 'site.yaml');
  if (cloud === undefined) throw new Error('the site file has no cloud');
  return cloud.topics;
})();

export const topics = topicsOf(templates, serial);

export function contextOf(changes: Partial<GateContext> = {}): GateContext {
  return {
    serial,
    topics,
    requestOf: () => null,
    hasSeenStop: () => false,
    hasSeenDelivery: () => false,
    hasSeenNotification: () => false,
    hasSeenExecution: () => false,
    ...changes,
  };
}

export const withRequest = (token: string, request: OwnRequest): Partial<GateContext> => ({
  requestOf: (asked) => (asked === token ? request : null),
});

export function messageOf(topic: string, payload: unknown, changes: Partial<InboundMessage> = {}): InboundMessage {
  const bytes =
    payload instanceof Uint8Array
      ? payload
      : new TextEncoder().encode(typeof payload === 'string' ? payload : JSON.stringify(payload));
  return { topic, payload: bytes, retain: false, dup: false, packetId: 1, oversizedBytes: null, ...changes };
}
