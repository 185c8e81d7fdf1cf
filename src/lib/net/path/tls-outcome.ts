import { nameLine } from '../../x509/index.ts';
import { certificatesOf, type TlsFailure, verifiedByText } from '../probe/index.ts';
import { FULL_SIZE_ASK, lastIssuer, quoted } from './dial-outcome.ts';
import type { PathOutcome } from './outcome.ts';
import type { PathResult } from './probe-path.ts';

/** Whether TLS reaches the endpoint without interception. */
export function tlsOutcome({ plan, tls, smallHello }: PathResult): PathOutcome {
  if (tls === undefined) return { verdict: 'not-checked', detail: 'not tried: no TCP connection' };
  if (smallHello === true) {
    return {
      verdict: 'wrong',
      detail: 'TCP connected; a full-size ClientHello got no answer, a small one did',
      remedy: 'Full-size packets are lost, or a filter inspects the first packet only; see the MTU line.',
      ask: FULL_SIZE_ASK,
    };
  }
  if (tls.kind === 'failed') return tlsFailedOutcome(tls.failure, tls.tookMs, plan.host, plan.port);
  const { trust, chain, protocol } = tls;
  const [leaf] = chain;
  const issuedBy = leaf === undefined ? 'no certificate received' : `issued by ${quoted(leaf.issuer)}`;
  switch (trust.kind) {
    case 'trusted':
      return {
        verdict: 'ok',
        detail: `${protocol}, ${issuedBy}, verified with ${verifiedByText[trust.by]} (${tls.tookMs} ms)`,
      };
    case 'no-trust-anchor':
      return {
        verdict: 'not-checked',
        detail: `${protocol}, ${issuedBy}; no CA to verify the chain with`,
        remedy: 'Enrol this device (`gw enrol`), or set cloud.mqtt.caFile in the site file.',
      };
    case 'untrusted':
      return {
        verdict: 'wrong',
        detail: `the certificate is ${issuedBy}; its chain does not end in ${anchorsText(plan.trusted)}: TLS interception, or the wrong CA file in the site file (${trust.reason})`,
        remedy: `If ${quoted(lastIssuer(chain))} belongs to the customer, it is a TLS-inspecting proxy; otherwise compare the CA file with that of the cloud operator.`,
        ask: `Exempt ${plan.host}, TCP ${plan.port}, from TLS inspection: the device must receive the certificate of the cloud, not one issued by ${quoted(lastIssuer(chain))}.`,
      };
    case 'hostname-mismatch':
      return {
        verdict: 'wrong',
        detail: `hostname mismatch: the certificate is for ${quoted(leaf?.subject ?? 'unknown')}, not for ${plan.host}`,
        remedy: 'Compare the host in the site file; a captive portal or a name server may redirect to another host.',
        ask: `Do not redirect ${plan.host} to another host (captive portal, DNS).`,
      };
    case 'expired':
    case 'not-yet-valid':
      return {
        verdict: 'wrong',
        detail: `by the clock of this gateway the certificate ${trust.kind === 'expired' ? `expired ${leaf?.notAfter}` : `is valid from ${leaf?.notBefore}`}`,
        remedy:
          'Check the clock of the gateway first (`timedatectl`); if it is right, the cloud operator must renew the certificate.',
      };
  }
}

function tlsFailedOutcome(failure: TlsFailure, tookMs: number, host: string, port: number): PathOutcome {
  const inspect = `Allow TLS to ${host}, TCP ${port}, without inspection and protocol filter.`;
  switch (failure.kind) {
    case 'no-answer':
      return {
        verdict: 'wrong',
        detail: `TCP connected, no answer to the ClientHello within ${tookMs} ms`,
        remedy: 'A filter drops it, or full-size packets are lost; see the MTU line.',
        ask: inspect,
      };
    case 'cut':
      return {
        verdict: 'wrong',
        detail: 'TCP connected, connection closed after the ClientHello',
        remedy: 'A filter that inspects the ClientHello (SNI) closes it, or the server does.',
        ask: inspect,
      };
    case 'not-tls':
      return {
        verdict: 'wrong',
        detail: 'the response is not TLS',
        remedy: 'A captive portal or plain proxy answers instead, or the port in the site file is wrong.',
        ask: inspect,
      };
    case 'alpn-refused':
      return { verdict: 'not-checked', detail: 'the server rejected ALPN before it sent a certificate' };
    case 'certificate-refused':
      return {
        verdict: 'not-checked',
        detail: `the server rejected the client certificate: TLS alert ${failure.alert}`,
      };
    case 'alert':
      return {
        verdict: 'wrong',
        detail: `TLS handshake failed: ${failure.alert}`,
        remedy:
          'If the server requires a client certificate, enrol this device first (`gw enrol`); otherwise compare host and port.',
        ask: inspect,
      };
  }
}

/** Whether the offered ALPN protocol was selected. */
export function alpnOutcome({ tls }: PathResult, wanted: string): PathOutcome {
  const ask = 'Pass the TLS ALPN extension to the broker unchanged.';
  if (tls === undefined) return { verdict: 'not-checked', detail: 'not tried: no TCP connection' };
  if (tls.kind === 'failed') {
    if (tls.failure.kind !== 'alpn-refused')
      return { verdict: 'not-checked', detail: 'not tried: TLS handshake failed' };
    return {
      verdict: 'wrong',
      detail: `TLS alert no_application_protocol: the server rejects ${wanted}`,
      remedy:
        'Compare cloud.mqtt.alpn of the site file with the value of the cloud operator; a proxy may reject it too.',
      ask,
    };
  }
  if (tls.alpn === wanted) return { verdict: 'ok', detail: 'selected by the server' };
  return {
    verdict: 'wrong',
    detail:
      tls.alpn === null
        ? 'the server ignored ALPN: not a broker on this port, or a proxy removed it'
        : `the server selected ${quoted(tls.alpn)} instead`,
    remedy:
      'Compare the host of the broker and cloud.mqtt.fallbackPort of the site file; a proxy may remove the extension.',
    ask,
  };
}

function anchorsText(trusted: string | 'system' | null): string {
  if (trusted === 'system' || trusted === null) return "a CA of Node's bundled list or of the operating system's";
  const names = (certificatesOf(trusted) ?? []).map(({ subject }) => quoted(nameLine(subject)));
  return names.length === 0 || names.length > 3 ? 'a trusted CA' : names.join(' or ');
}
