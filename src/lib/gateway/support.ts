import type { Cloud } from '../cloud/index.ts';
import { noSupport, type SupportHealth } from '../operator/index.ts';
import type { Site } from '../site/index.ts';
import type { Support, SupportOptions } from '../tunnel/index.ts';

/**
 * Remote support of this robot, also without `cloud.tunnel`: it then refuses each notification and records that. Null for
 * a site file without `cloud`.
 */
export async function openSupport(
  site: Site,
  cloud: Cloud | null,
  parts: Pick<SupportOptions, 'program' | 'clock' | 'log'>,
): Promise<Support | null> {
  if (cloud === null) return null;
  const { createSupport } = await import('../tunnel/session/index.ts');
  return createSupport({ ...parts, site, sendRecord: cloud.sendRecord });
}

/** The part of remote support in the health of the gateway; records that fail come first. */
export function supportHealth(support: Pick<Support, 'view'> | null): SupportHealth {
  const { status, detail, records } = support?.view() ?? noSupport;
  return { status, records: records.status, detail: records.status === 'failing' ? records.detail : detail };
}
