import { returnCodeText } from '../probe/index.ts';
import type { PathOutcome } from './outcome.ts';
import type { PathResult } from './probe-path.ts';

/** Whether the broker accepts MQTT CONNECT of this device. */
export function mqttOutcome({ tls, mqtt, plan }: PathResult): PathOutcome {
  const seeCloud = 'The network is fine. Ask the cloud operator to check this device in their account.';
  if (tls?.kind === 'failed' && tls.failure.kind === 'certificate-refused')
    return certificateRejectedOutcome(tls.failure.alert);
  if (mqtt === undefined) return { verdict: 'not-checked', detail: 'not tried: no TLS connection' };
  switch (mqtt.kind) {
    case 'not-tried':
      return { verdict: 'not-checked', detail: `not tried: ${mqtt.why}` };
    case 'accepted':
      return { verdict: 'ok', detail: `CONNACK accepted, DISCONNECT sent (${mqtt.tookMs} ms)` };
    case 'refused':
      return {
        verdict: 'wrong',
        detail: `CONNACK refused: ${returnCodeText(mqtt.returnCode)}`,
        remedy: seeCloud,
      };
    case 'no-connack':
      return {
        verdict: 'wrong',
        detail: `TLS established, no CONNACK received within ${mqtt.tookMs} ms`,
        remedy:
          'The TLS peer is not a broker, or it does not respond. Try the other port, then ask the cloud operator.',
      };
    case 'not-mqtt':
      return {
        verdict: 'wrong',
        detail: mqtt.looksLikeHttp
          ? 'the peer is an HTTP server, not an MQTT broker'
          : 'the response is not MQTT 3.1.1',
        remedy:
          'Compare the host (cloud.mqtt.host of the site file, else that of `gw enrol status`) and the ports of cloud.mqtt.',
        ask: `Do not put a web proxy in front of ${plan.host}, TCP ${plan.port}.`,
      };
    case 'closed':
      if (mqtt.failure.kind === 'certificate-refused') return certificateRejectedOutcome(mqtt.failure.alert);
      return {
        verdict: 'wrong',
        detail: `connection closed without CONNACK${mqtt.failure.kind === 'alert' ? `: ${mqtt.failure.alert}` : ''}`,
        remedy: `${seeCloud} A broker closes this way when it does not accept the certificate or the client identifier.`,
      };
  }
}

function certificateRejectedOutcome(alert: string): PathOutcome {
  return {
    verdict: 'wrong',
    detail: `the broker rejected the certificate of this device: TLS alert ${alert}`,
    remedy: 'Run `gw enrol status`, and ask the cloud operator whether the certificate is active.',
  };
}

/** Whether an HTTPS server responds; any status counts. */
export function httpsOutcome({ https, tls }: PathResult): PathOutcome {
  if (https === undefined) {
    return { verdict: 'not-checked', detail: tls === undefined ? 'not tried' : 'not tried: no TLS connection' };
  }
  switch (https.kind) {
    case 'answered':
      return { verdict: 'ok', detail: `HEAD / returned ${https.status} (${https.tookMs} ms)` };
    case 'not-http':
      return {
        verdict: 'wrong',
        detail: 'the response is not HTTP',
        remedy: 'Compare the URL in the site file.',
      };
    case 'no-answer':
      return {
        verdict: 'wrong',
        detail: `TLS established, no HTTP response within ${https.tookMs} ms`,
        remedy: 'Run the check again, then ask the cloud operator.',
      };
    case 'closed':
      return {
        verdict: 'wrong',
        detail: 'connection closed without a response',
        remedy: 'Run the check again, then ask the cloud operator.',
      };
  }
}
