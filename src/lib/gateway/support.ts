import type { Cloud } from '../cloud/index.ts';
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
