import { returnCodeText } from '../../../net/probe/index.ts';
import type { GonePath } from './paths.ts';
import type { Said } from './said.ts';

/** Whether the broker lets this device in. */
export function mqttSaid({ tls, mqtt, plan }: GonePath): Said {
  const seeCloud = 'The network lets it pass. Have the operator of the cloud look at this device in their account.';
  if (tls?.kind === 'failed' && tls.failure.kind === 'certificate-refused')
    return certificateRefusedSaid(tls.failure.alert);
  if (mqtt === undefined) return { verdict: 'not-checked', detail: 'not tried: TLS did not come about' };
  switch (mqtt.kind) {
    case 'not-tried':
      return { verdict: 'not-checked', detail: `not tried: ${mqtt.why}` };
    case 'accepted':
      return { verdict: 'ok', detail: `the broker let it in, and it signed off again (${mqtt.tookMs} ms)` };
    case 'refused':
      return {
        verdict: 'wrong',
        detail: `the broker refuses it: ${returnCodeText(mqtt.returnCode)}`,
        remedy: seeCloud,
      };
    case 'no-connack':
      return {
        verdict: 'wrong',
        detail: `TLS stands, and no CONNACK came within ${mqtt.tookMs} ms`,
        remedy:
          'Whoever ended TLS there is no broker, or it does not answer; try the other port, then ask the operator.',
      };
    case 'foreign':
      return {
        verdict: 'wrong',
        detail: mqtt.looksLikeHttp
          ? 'an HTTP server answers in place of the broker'
          : 'whoever answers does not speak MQTT 3.1.1',
        remedy: 'Compare cloud.mqtt.host and its ports in the site file.',
        ask: `Do not put a web proxy in front of ${plan.host}, TCP ${plan.port}.`,
      };
    case 'closed':
      if (mqtt.failure.kind === 'certificate-refused') return certificateRefusedSaid(mqtt.failure.alert);
      return {
        verdict: 'wrong',
        detail: `the connection was ended without a CONNACK${mqtt.failure.kind === 'alert' ? `: ${mqtt.failure.alert}` : ''}`,
        remedy: `${seeCloud} A broker closes so when it does not know the certificate or the client id.`,
      };
  }
}

function certificateRefusedSaid(alert: string): Said {
  return {
    verdict: 'wrong',
    detail: `the broker does not take the certificate of this device: ${alert}`,
    remedy: 'Look at `gw enrol status`; the operator of the cloud sees whether the certificate is active there.',
  };
}

/** Whether an HTTPS server answers at all; what it answers is no matter of the network. */
export function httpsSaid({ https, tls }: GonePath): Said {
  if (https === undefined) {
    return { verdict: 'not-checked', detail: tls === undefined ? 'not tried' : 'not tried: TLS did not come about' };
  }
  switch (https.kind) {
    case 'answered':
      return { verdict: 'ok', detail: `it answered, with ${https.status} to HEAD / (${https.tookMs} ms)` };
    case 'not-http':
      return {
        verdict: 'wrong',
        detail: 'whoever answers does not speak HTTP',
        remedy: 'Compare the address in the site file.',
      };
    case 'no-answer':
      return {
        verdict: 'wrong',
        detail: `TLS stands, and nothing was answered within ${https.tookMs} ms`,
        remedy: 'Try again; then ask the operator of the cloud.',
      };
    case 'closed':
      return {
        verdict: 'wrong',
        detail: 'the connection was ended without an answer',
        remedy: 'Try again; then ask the operator of the cloud.',
      };
  }
}
