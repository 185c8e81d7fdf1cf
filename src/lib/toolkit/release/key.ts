import { GwError } from '../../error/index.ts';
import type { Site } from '../../site/index.ts';

export type ReleaseSettings = NonNullable<NonNullable<Site['cloud']>['release']>;

/** `cloud.release` of the site file. Throws SITE_FILE_INVALID with what to add when there is none. */
export function releaseOf({ path, cloud }: Site): ReleaseSettings {
  if (cloud?.release !== undefined) return cloud.release;
  throw new GwError('SITE_FILE_INVALID', `No \`release:\` section below \`cloud:\` in ${path}.`, {
    remedy: 'Add `release:` with `keyFile:`; see docs/site-file.md. For a file without a site: --key FILE.',
  });
}
