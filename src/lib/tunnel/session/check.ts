import { MAX_SERVICES } from '../model.ts';
import type { RefusalReason } from '../records/schema.ts';
import type { Notified, Refusal } from './state.ts';

/** What a notification is compared with. */
export interface Expected {
  /** `cloud.region`. */
  readonly region: string;
  /** `cloud.tunnel.services`; null: the site file has no `cloud.tunnel`. */
  readonly services: readonly string[] | null;
  /** Whether a notification with this token was received before. */
  readonly isSeen: boolean;
}

/** The only value that makes this gateway the destination. @source vendor (HINWEIS) */
const DESTINATION = 'destination';

/**
 * Checks a notification; null: a session may start. Texts of the notification are compared and never used: the host comes
 * from the site file, and every service leads to the read-only socket. They appear in no detail, since they may be
 * anything; the record contains them in fields of their own.
 * @source specification, 'States and transitions'; the remaining checks are project decisions
 */
export function checkNotification(
  notification: Pick<Notified, 'clientMode' | 'region' | 'services'>,
  { region, services, isSeen }: Expected,
): Refusal | null {
  const requested = notification.services;
  if (services === null) return refusal('not-configured', 'The site file has no cloud.tunnel.');
  if (notification.clientMode !== DESTINATION) {
    return refusal('not-destination', `The client mode is not '${DESTINATION}': this gateway is never the source.`);
  }
  if (notification.region !== region) return refusal('other-region', `The region is not ${region} (cloud.region).`);
  if (requested.length === 0 || requested.length > MAX_SERVICES) {
    return refusal('services-count', `${requested.length} services requested; 1 to ${MAX_SERVICES} are allowed.`);
  }
  if (new Set(requested).size !== requested.length) return refusal('service-repeated', 'A service is requested twice.');
  if (!requested.every((service) => services.includes(service))) {
    return refusal('service-not-in-list', `A service is not in cloud.tunnel.services (${services.join(', ')}).`);
  }
  if (isSeen) return refusal('seen-before', 'A notification with this token was received before.');
  return null;
}

function refusal(reason: RefusalReason, detail: string): Refusal {
  return { reason, detail };
}
