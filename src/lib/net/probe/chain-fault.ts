import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isSelfSigned, isSignedBy, isVersion1, nameLine } from '../../x509/index.ts';

/** Who can mend it: the IT of the customer, the operator of the cloud, or whoever set up this gateway. */
type Addressee = 'customer-it' | 'cloud-operator' | 'yourself';

type ChainFaultCode =
  /** The chain ends elsewhere: the only ones that may be a TLS interception. */
  | 'foreign-root'
  | 'self-signed'
  /** The chain has no end: a certificate of it is missing. */
  | 'issuer-not-sent'
  | 'root-not-trusted'
  | 'root-not-in-file'
  | 'ca-with-other-key'
  | 'ca-version-1'
  | 'ca-without-basic-constraints'
  | 'ca-without-ca-flag'
  | 'ca-not-for-signing'
  | 'ca-expired'
  | 'ca-not-yet-valid'
  | 'expired'
  | 'not-yet-valid'
  | 'unreadable-validity'
  | 'not-for-servers'
  | 'wrong-name'
  | 'wildcard-mismatch'
  | 'address-not-named'
  | 'no-names'
  | 'not-verified';

/** Why a chain was not verified. `detail` and `remedy` hold names of certificates, which are untrusted text, in quotes. */
export interface ChainFault {
  readonly code: ChainFaultCode;
  readonly addressee: Addressee;
  /** A sentence without full stop. */
  readonly detail: string;
  readonly remedy: string;
  /** What the IT of the customer is asked; null where it can do nothing. */
  readonly ask: 'exempt' | 'exempt-if-theirs' | 'no-redirect' | null;
  /** The name in which the chain ends, in quotes: of the root, or of the issuer that is missing. */
  readonly endsIn: string;
}

/** The certificates that a chain must end in. */
export interface Anchors {
  readonly certificates: readonly X509Certificate[];
  /** Of a CA file; otherwise of the lists of Node and the operating system. */
  readonly isFile: boolean;
}

export interface UnverifiedChain {
  /** As the server sent them, its own first. */
  readonly sent: readonly X509Certificate[];
  readonly anchors: Anchors;
  /** The error of OpenSSL, which names neither the certificate nor what is missing. */
  readonly code: string;
  readonly host: string;
  readonly now: Date;
}

const MAX_LINKS = 10;
const SERVER_USES = new Set(['1.3.6.1.5.5.7.3.1', '2.5.29.37.0']);
/** DER of the OIDs 2.5.29.19 and 2.5.29.15. @source RFC 5280, 4.2.1 */
const BASIC_CONSTRAINTS = Buffer.from('0603551d13', 'hex');
const KEY_USAGE = Buffer.from('0603551d0f', 'hex');
const nameErrors = new Set(['ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH', 'IP_ADDRESS_MISMATCH']);

/** Untrusted text on one line, in quotes. */
const inQuotes = (text: string) => `'${text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '?').slice(0, 300)}'`;
const named = (name: string | undefined) => inQuotes(nameLine(name));
const CLOCK_FIRST = 'Check the clock of the gateway first (`timedatectl`); if it is right,';
type Judged = Omit<ChainFault, 'endsIn'>;
const operator = (code: ChainFaultCode, detail: string, remedy: string): Judged => ({
  ...{ code, addressee: 'cloud-operator', detail, remedy, ask: null },
});
const yourself = (code: ChainFaultCode, detail: string, remedy: string): Judged => ({
  ...{ code, addressee: 'yourself', detail, remedy, ask: null },
});

/** Names the certificate that a chain fails with. For a chain that OpenSSL did not verify, or not for this host. */
export function chainFaultOf(chain: UnverifiedChain): ChainFault {
  const [own] = chain.sent;
  if (own === undefined) {
    const { code } = chain;
    return { ...operator('not-verified', `no certificate was received (${code})`, reportTo(code)), endsIn: named('') };
  }
  const path = pathOf(own, chain);
  return { ...judge(own, path, chain), endsIn: named((path.at(-1) ?? own).issuer) };
}

function judge(own: X509Certificate, path: readonly X509Certificate[], chain: UnverifiedChain): Judged {
  const { anchors, code } = chain;
  const top = path.at(-1) ?? own;
  if (!anchors.certificates.some((one) => one.raw.equals(top.raw)) || !isSelfSigned(top)) return endFault(path, chain);
  return (
    caFault(path, chain) ??
    validityFault(path, chain) ??
    (nameErrors.has(code) ? nameFault(own, chain) : null) ??
    (own.keyUsage !== undefined && !own.keyUsage.some((use) => SERVER_USES.has(use))
      ? operator(
          'not-for-servers',
          `the certificate ${named(own.subject)} is not for servers: its extended key usage lacks serverAuth`,
          'Ask the cloud operator to install a server certificate.',
        )
      : operator('not-verified', `the certificate chain was not verified (${code})`, reportTo(code)))
  );
}

const reportTo = (code: string) => `Report the code ${code} to the cloud operator.`;

/** From the certificate of the server up, by signatures; trusted certificates first, as OpenSSL does. */
function pathOf(own: X509Certificate, { sent, anchors }: UnverifiedChain): readonly X509Certificate[] {
  const path = [own];
  while (path.length < MAX_LINKS) {
    const last = path.at(-1) ?? own;
    if (isSelfSigned(last)) break;
    const next = [...anchors.certificates, ...sent].find((one) => !path.includes(one) && isSignedBy(last, one));
    if (next === undefined) break;
    path.push(next);
  }
  return path;
}

/** The path does not end in a trusted root: elsewhere, or too early. */
function endFault(path: readonly X509Certificate[], { anchors }: UnverifiedChain): Judged {
  const [own] = path;
  const top = path.at(-1);
  const issuer = named(top?.issuer);
  const held = anchorsText(anchors);
  const ifProxy = `If not, a TLS-inspecting proxy may have issued it: report it to the customer's IT.`;
  // The name of the trusted CA does not make it the same one.
  if (anchors.certificates.some((one) => one.subject === top?.issuer && !isSignedBy(top, one))) {
    return yourself(
      'ca-with-other-key',
      `the chain leads to ${issuer}, but ${anchors.isFile ? 'the CA file holds' : 'this machine trusts'} a CA of that name with another key: it was renewed, or is imitated`,
      'Get the present CA certificate from the cloud operator, not from this connection.',
    );
  }
  if (top !== undefined && isSelfSigned(top)) {
    const isOwn = top === own;
    return {
      code: isOwn ? 'self-signed' : 'foreign-root',
      addressee: 'customer-it',
      detail: isOwn
        ? `the certificate ${named(top.subject)} is self-signed, and not ${held}: TLS interception, another server, or ${wrongFile(anchors)}`
        : `the certificate is issued by ${named(own?.issuer)}; its chain does not end in ${held} but in ${named(top.subject)}: TLS interception, or ${wrongFile(anchors)}`,
      remedy: `If ${named(top.subject)} belongs to the customer, it is a TLS-inspecting proxy; otherwise compare ${anchors.isFile ? 'the CA file' : 'caFile of the site file'} with the CA of the cloud operator.`,
      ask: 'exempt',
    };
  }
  if (top !== undefined && anchors.certificates.some((one) => one.raw.equals(top.raw))) {
    return yourself(
      'root-not-in-file',
      `the CA file holds ${named(top.subject)}, but not its issuer ${issuer}`,
      `Add the root certificate of the chain to the CA file, from the cloud operator.`,
    );
  }
  if (top === own) {
    return {
      code: 'issuer-not-sent',
      addressee: 'cloud-operator',
      detail: `the chain is incomplete: the certificate is issued by ${issuer}, whose certificate the server did not send, and which is not ${held}`,
      remedy: `Ask the cloud operator whether ${issuer} is theirs: then the server must send the intermediate certificate too. ${ifProxy}`,
      ask: 'exempt-if-theirs',
    };
  }
  return {
    code: 'root-not-trusted',
    addressee: 'yourself',
    detail: `the chain is incomplete: it leads to ${named(top?.subject)}, issued by ${issuer}, which the server did not send, and which is not ${held}`,
    remedy: `Ask the cloud operator whether ${issuer} is theirs: then its certificate belongs into ${anchors.isFile ? 'the CA file' : 'a CA file (caFile of the site file)'}. ${ifProxy}`,
    ask: 'exempt-if-theirs',
  };
}

const wrongFile = ({ isFile }: Anchors) =>
  isFile ? 'the wrong CA file in the site file' : 'a CA of the operator that no caFile of the site file names';

function anchorsText({ certificates, isFile }: Anchors): string {
  if (!isFile) return "a CA of Node's bundled list or of the operating system's";
  const names = certificates.map(({ subject }) => named(subject));
  return names.length === 0 || names.length > 3 ? 'a trusted CA' : names.join(' or ');
}

/** An issuer of the chain that OpenSSL does not accept as one; a trusted root of version 1 it does (measured). */
function caFault([, ...issuers]: readonly X509Certificate[], { anchors }: UnverifiedChain): Judged | null {
  const bad = issuers.find((one) => !one.ca && !(isSelfSigned(one) && isVersion1(one)));
  if (bad === undefined) return null;
  const [code, why] = isVersion1(bad)
    ? (['ca-version-1', 'it is X.509 version 1, without extensions'] as const)
    : !bad.raw.includes(BASIC_CONSTRAINTS)
      ? (['ca-without-basic-constraints', 'it has no basicConstraints'] as const)
      : bad.raw.includes(KEY_USAGE) && bad.raw.includes(Buffer.from('30030101ff', 'hex'))
        ? (['ca-not-for-signing', 'its key usage does not include keyCertSign'] as const)
        : (['ca-without-ca-flag', 'its basicConstraints say CA:FALSE'] as const);
  const where = isAnchor(bad, anchors) ? 'of the CA file' : 'that the server sent';
  return operator(
    code,
    `the certificate ${named(bad.subject)} ${where} issued another one and is no CA certificate: ${why}`,
    `Ask the cloud operator to issue ${named(bad.subject)} anew with basicConstraints CA:TRUE and keyCertSign.`,
  );
}

const isAnchor = (one: X509Certificate, { certificates, isFile }: Anchors) =>
  isFile && certificates.some(({ raw }) => raw.equals(one.raw));

/** The certificate that is over or not valid yet, with its own date; by the texts, since the dates of Node may be any. */
function validityFault(path: readonly X509Certificate[], { anchors, code, now }: UnverifiedChain): Judged | null {
  const unreadable = path.find((one) => [one.validFrom, one.validTo].some((text) => Number.isNaN(Date.parse(text))));
  if (unreadable !== undefined) {
    return operator(
      'unreadable-validity',
      `the validity of the certificate ${named(unreadable.subject)} cannot be read (${code})`,
      `Ask the cloud operator to issue ${named(unreadable.subject)} anew.`,
    );
  }
  if (code !== 'CERT_HAS_EXPIRED' && code !== 'CERT_NOT_YET_VALID') return null;
  const isOver = code === 'CERT_HAS_EXPIRED';
  const timeOf = (one: X509Certificate) => Date.parse(isOver ? one.validTo : one.validFrom);
  const isBad = (one: X509Certificate) => (isOver ? timeOf(one) < now.getTime() : timeOf(one) > now.getTime());
  // OpenSSL has the clock of the machine; another one is at hand in tests only.
  const byTime = path.toSorted((a, b) => (isOver ? timeOf(a) - timeOf(b) : timeOf(b) - timeOf(a)));
  const bad = path.find(isBad) ?? byTime[0];
  if (bad === undefined) return null;
  const when = `${isOver ? 'expired' : 'is valid from'} ${new Date(timeOf(bad)).toISOString()}`;
  if (bad === path[0]) {
    return operator(
      isOver ? 'expired' : 'not-yet-valid',
      `by the clock of this gateway the certificate ${when}`,
      `${CLOCK_FIRST} the cloud operator must renew the certificate.`,
    );
  }
  const isOurs = isAnchor(bad, anchors);
  return (isOurs ? yourself : operator)(
    isOver ? 'ca-expired' : 'ca-not-yet-valid',
    `by the clock of this gateway the CA certificate ${named(bad.subject)} ${isOurs ? 'of the CA file' : 'above the certificate of the server'} ${when}`,
    isOurs
      ? `${CLOCK_FIRST} get the present CA file from the cloud operator.`
      : `${CLOCK_FIRST} the cloud operator must renew ${named(bad.subject)}.`,
  );
}

/** Only a verified chain is compared with the host, so the certificate is of whom the CA file names. */
function nameFault(own: X509Certificate, { host, anchors }: UnverifiedChain): Judged {
  const names = (own.subjectAltName ?? '').split(', ').filter((one) => /^(DNS|IP Address):/.test(one));
  const values = names.map((one) => one.replace(/^[^:]*:/, ''));
  const listed = values.slice(0, 5).map(inQuotes);
  const shown = listed.join(', ') + (values.length > listed.length ? ` and ${values.length - listed.length} more` : '');
  const start = 'hostname mismatch: the certificate';
  if (names.length === 0) {
    return operator(
      'no-names',
      `${start} ${named(own.subject)} names no host (no subjectAltName), not ${host}`,
      `Ask the cloud operator for a certificate with ${host} as subjectAltName.`,
    );
  }
  if (isIP(host) !== 0 && !names.some((one) => one.startsWith('IP'))) {
    return yourself(
      'address-not-named',
      `${start} is for ${shown}, not for the address ${host}`,
      'Set the host in the site file to a name of the certificate, instead of the address.',
    );
  }
  const wildcard = values.find(
    (one) => one.startsWith('*.') && `.${host.toLowerCase()}`.endsWith(one.slice(1).toLowerCase()),
  );
  if (wildcard !== undefined) {
    return operator(
      'wildcard-mismatch',
      `${start} is for ${shown}; ${inQuotes(wildcard)} covers exactly one label before its domain, so not ${host}`,
      `Compare the host in the site file; if it is right, ask the cloud operator for a certificate for ${host}.`,
    );
  }
  return {
    ...{ code: 'wrong-name', addressee: 'yourself', detail: `${start} is for ${shown}, not for ${host}` },
    remedy: anchors.isFile
      ? 'Compare the host in the site file; if it is right, ask the cloud operator which server answers there.'
      : 'Compare the host in the site file; a captive portal or a name server may redirect to another host.',
    ask: anchors.isFile ? null : 'no-redirect',
  };
}
