import { certificatesOf, nameLine, type TlsFailure, verifiedByText } from '../../../net/probe/index.ts';
import type { GonePath } from './paths.ts';
import { FULL_SIZE_ASK, lastIssuer, quoted, type Said } from './said.ts';

/** Whether TLS reaches the other end unopened: who answers, and who made its certificate. */
export function tlsSaid({ plan, tls, smallHello }: GonePath): Said {
  if (tls === undefined) return { verdict: 'not-checked', detail: 'not tried: there is no connection' };
  if (smallHello === true) {
    return {
      verdict: 'wrong',
      detail: 'TCP is open, the usual first words of TLS (more than one packet) are not answered, and small ones are',
      remedy: 'Packets of full size are lost on the way, or a filter reads no more than the first one.',
      ask: FULL_SIZE_ASK,
    };
  }
  if (tls.kind === 'failed') return tlsFailedSaid(tls.failure, tls.tookMs, plan.host, plan.port);
  const { trust, chain, protocol } = tls;
  const [leaf] = chain;
  const issuedBy = leaf === undefined ? 'no certificate was shown' : `issued by ${quoted(leaf.issuer)}`;
  switch (trust.kind) {
    case 'trusted':
      return {
        verdict: 'ok',
        detail: `${protocol}, ${issuedBy}, verified with ${verifiedByText[trust.by]} (${tls.tookMs} ms)`,
      };
    case 'no-anchor':
      return {
        verdict: 'not-checked',
        detail: `${protocol}, ${issuedBy}; there is nothing to compare the chain with`,
        remedy: 'Enrol this device (gw enrol), or name cloud.mqtt.caFile in the site file.',
      };
    case 'foreign':
      return {
        verdict: 'wrong',
        detail: `the certificate is ${issuedBy}, and its chain does not end in ${anchorsText(plan.trusted)}: a proxy opens TLS on the way, or the site file trusts the wrong CA (${trust.reason})`,
        remedy: `If ${quoted(lastIssuer(chain))} belongs to the customer, it is their proxy; otherwise compare the CA file with the one of the operator.`,
        ask: `Take ${plan.host}, TCP ${plan.port}, out of TLS inspection: the device must see the certificate of the cloud, not one that ${quoted(lastIssuer(chain))} made.`,
      };
    case 'other-name':
      return {
        verdict: 'wrong',
        detail: `the certificate is for ${quoted(leaf?.subject ?? 'nobody')}, not for ${plan.host}`,
        remedy: 'Compare the host in the site file; a name server or a portal may lead to another machine.',
        ask: `Do not lead ${plan.host} to another machine (portal, DNS redirection).`,
      };
    case 'expired':
    case 'not-yet-valid':
      return {
        verdict: 'wrong',
        detail: `by the clock of this gateway the certificate ${trust.kind === 'expired' ? `ended ${leaf?.notAfter}` : `begins ${leaf?.notBefore}`}`,
        remedy: 'Look at the line of the clock first; if the clock is right, the operator must renew the certificate.',
      };
  }
}

function tlsFailedSaid(failure: TlsFailure, tookMs: number, host: string, port: number): Said {
  const inspect = `Let TLS to ${host} on TCP ${port} pass untouched: no inspection and no filter by protocol.`;
  switch (failure.kind) {
    case 'no-answer':
      return {
        verdict: 'wrong',
        detail: `TCP is open, and no answer to the first word of TLS came within ${tookMs} ms`,
        remedy: 'A filter swallows it, or packets of full size are lost; see the line of the MTU.',
        ask: inspect,
      };
    case 'cut':
      return {
        verdict: 'wrong',
        detail: 'TCP is open, and the connection was cut at the first words of TLS',
        remedy: 'A filter that looks into the first words cuts it, or the server does.',
        ask: inspect,
      };
    case 'not-tls':
      return {
        verdict: 'wrong',
        detail: 'whoever answers does not speak TLS',
        remedy: 'A portal or a plain proxy answers in its place, or the port in the site file is wrong.',
        ask: inspect,
      };
    case 'alpn-refused':
      return { verdict: 'not-checked', detail: 'the handshake ended at the ALPN identifier, before any certificate' };
    case 'certificate-refused':
      return {
        verdict: 'not-checked',
        detail: `the handshake ended at the certificate of this device: ${failure.alert}`,
      };
    case 'alert':
      return {
        verdict: 'wrong',
        detail: `the handshake failed: ${failure.alert}`,
        remedy: 'Where a client certificate is demanded, enrol this device first; otherwise compare host and port.',
        ask: inspect,
      };
  }
}

/** Whether the application protocol that was offered was taken. */
export function alpnSaid({ tls }: GonePath, wanted: string): Said {
  const ask = 'Let the application protocol of TLS (ALPN) pass unchanged to the broker.';
  if (tls === undefined) return { verdict: 'not-checked', detail: 'not tried: there is no connection' };
  if (tls.kind === 'failed') {
    if (tls.failure.kind !== 'alpn-refused') return { verdict: 'not-checked', detail: 'TLS did not get that far' };
    return {
      verdict: 'wrong',
      detail: `the other end speaks TLS and refuses the identifier ${wanted}`,
      remedy:
        'Compare cloud.mqtt.alpn of the site file with what the operator of the cloud names; a proxy may refuse it too.',
      ask,
    };
  }
  if (tls.alpn === wanted) return { verdict: 'ok', detail: 'the broker chose it' };
  return {
    verdict: 'wrong',
    detail:
      tls.alpn === null
        ? 'the other end takes no notice of ALPN: no broker on this port, or a proxy that takes it out'
        : `the other end chose ${quoted(tls.alpn)} instead`,
    remedy: 'Compare cloud.mqtt.host and fallbackPort of the site file; a proxy on the way may drop the identifier.',
    ask,
  };
}

function anchorsText(trusted: string | 'system' | null): string {
  if (trusted === 'system' || trusted === null) return "a CA of Node's bundled list or of the operating system's";
  const names = (certificatesOf(trusted) ?? []).map(({ subject }) => quoted(nameLine(subject)));
  return names.length === 0 || names.length > 3 ? 'a trusted CA' : names.join(' or ');
}
