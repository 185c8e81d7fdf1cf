import { type ChainFault, type TlsFailure, verifiedByText } from '../probe/index.ts';
import { FULL_SIZE_ASK, quoted } from './dial-outcome.ts';
import type { PathOutcome } from './outcome.ts';
import type { PathResult } from './probe-path.ts';

/** Whether TLS reaches the endpoint and its certificate was verified. */
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
    case 'hostname-mismatch':
    case 'expired':
    case 'not-yet-valid': {
      const ask = askText(trust.fault, plan);
      return { verdict: 'wrong', detail: trust.fault.detail, remedy: trust.fault.remedy, ...(ask !== null && { ask }) };
    }
  }
}

function askText({ ask, endsIn }: ChainFault, { host, port }: PathResult['plan']): string | null {
  const exempt = `xempt ${host}, TCP ${port}, from TLS inspection: the device must receive the certificate of the cloud`;
  switch (ask) {
    case 'exempt':
      return `E${exempt}, not one issued by ${endsIn}.`;
    case 'exempt-if-theirs':
      return `If ${endsIn} is a CA of your network, e${exempt}.`;
    case 'no-redirect':
      return `Do not redirect ${host} to another host (captive portal, DNS).`;
    case null:
      return null;
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
