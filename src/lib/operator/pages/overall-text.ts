import type { CloudView } from '../../cloud/index.ts';
import type { SupportView } from '../../tunnel/index.ts';
import type { GatewayHealth } from '../model.ts';
import type { Headline } from './headline.ts';

/**
 * The state of robot and gateway together, for the technician: in order only when nothing prevents a drive, and when no
 * part of the page has a remedy.
 */
export function overallText(
  headline: Headline,
  {
    health,
    cloud,
    support,
  }: { readonly health: GatewayHealth; readonly cloud: CloudView; readonly support: SupportView },
): string {
  if (headline.level !== 'good') return `beeinträchtigt: ${headline.text}`;
  const { link, outbox, seen, release } = cloud;
  const hasRemedy = (...parts: readonly ({ readonly remedy: string | null } | null)[]) =>
    parts.some((part) => part !== null && part.remedy !== null);
  const open = [
    ...(health.services.some((service) => hasRemedy(service)) ? ['Dienste'] : []),
    ...(Object.values(health.disk).some((folder) => hasRemedy(folder)) ? ['Ordner'] : []),
    ...(hasRemedy(cloud, link, outbox, seen, release) ? ['Cloud'] : []),
    // Without remote support by the site file there is nothing to remedy.
    ...(support.status !== 'not-configured' && hasRemedy(support) ? ['Fernwartung'] : []),
  ];
  return open.length === 0 ? 'in Ordnung' : `beeinträchtigt: Abhilfe nötig bei ${open.join(', ')}`;
}
