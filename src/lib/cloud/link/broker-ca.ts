import { type CertificateView, certificatesOf, viewCertificate } from '../../x509/index.ts';
import type { LinkTrouble } from './model.ts';

const DAY_MS = 86_400_000;
/** Project decision: as for the certificate of the device. */
const WARNING_DAYS = 30;

/**
 * The CA certificate of this device by which the broker was verified and which ends first; null: not known, such as with the
 * list of the system. Names are enough, since the chain was verified. Of two of one name the later one still verifies.
 */
export function brokerCaOf(chain: readonly CertificateView[], trusted: string): CertificateView | null {
  const own = (certificatesOf(trusted) ?? []).map(viewCertificate);
  const latestOf = (name: string | undefined) =>
    own.filter(({ subject }) => subject === name).toSorted((a, b) => endOf(b) - endOf(a))[0];
  const path: CertificateView[] = [];
  let next = latestOf(chain.findLast(({ issuer }) => latestOf(issuer) !== undefined)?.issuer);
  while (next !== undefined && !path.includes(next)) {
    path.push(next);
    next = latestOf(next.issuer);
  }
  return path.toSorted((a, b) => endOf(a) - endOf(b))[0] ?? null;
}

/** A running connection outlives its CA; the next one does not. null: it ends later than the warning begins. */
export function brokerCaTrouble(ca: CertificateView, isOfSiteFile: boolean, now: Date): LinkTrouble | null {
  const leftMs = endOf(ca) - now.getTime();
  if (leftMs > WARNING_DAYS * DAY_MS) return null;
  const ends = leftMs < 0 ? `expired at ${ca.notAfter}:` : `ends at ${ca.notAfter}: then`;
  return {
    kind: 'broker-ca-ending',
    detail: `the CA certificate '${ca.subject}' by which the broker is verified ${ends} no new connection is made, and no stop, release or support arrives`,
    remedy: `Ask the cloud operator for the next CA${
      isOfSiteFile
        ? ', and add it to the file of cloud.mqtt.caFile'
        : ' and a new one-time code, then run `gw enrol --renew`'
    }.`,
    ask: null,
  };
}

const endOf = ({ notAfter }: CertificateView) => Date.parse(notAfter);
