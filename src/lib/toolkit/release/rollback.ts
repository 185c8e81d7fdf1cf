import { carryOutRollback, planRollback, readReleaseKeys } from '../../cloud/index.ts';
import type { Toolkit } from '../toolkit.ts';
import { releaseOf } from './key.ts';
import type { ReleaseRollback } from './release.result.ts';

/**
 * Switches to the version before the current one, or shows what that would do. Throws RELEASE_REFUSED, FILE_UNREADABLE,
 * FILE_UNWRITABLE, SITE_FILE_INVALID.
 */
export async function rollBackRelease(
  { site, clock }: Pick<Toolkit, 'site' | 'clock'>,
  options: { readonly toBase: boolean; readonly isConfirmed: boolean; readonly gwVersion: string },
): Promise<ReleaseRollback> {
  const { toBase, isConfirmed, gwVersion } = options;
  const { dir, keyFile } = releaseOf(site);
  const keys = await readReleaseKeys(keyFile);
  const wish = { toBase, baseVersion: gwVersion };
  const plan = await planRollback(dir, { ...wish, keys });
  if (isConfirmed) await carryOutRollback(dir, plan, { ...wish, at: clock.wall().toISOString() });
  const { from, to, isUnconfirmed } = plan;
  return {
    mode: isConfirmed ? 'switched' : 'dry-run',
    dir,
    from: from.version,
    to: to.version,
    toBase: to.folder === null,
    isUnconfirmed,
    next: isConfirmed
      ? [
          'Restart gw when the robot stands, since a restart cancels a move: sudo systemctl restart gw',
          'Then verify the version that runs: gw release status',
        ]
      : [`Switch with: gw release rollback${toBase ? ' --base' : ''} --yes`],
  };
}
