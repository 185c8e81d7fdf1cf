import { Args } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { liveFlag, siteFlag, viaLiveFlag } from '../../cli/flags.ts';
import { renderEvidenceFact } from '../../cli/render/evidence.ts';

export default command({
  summary: 'Show one fact: mark, value, source, disagreements, and the records of this site.',
  description:
    'With a site file the records of its evidence file are shown as well. A record counts for one serial number and one software version: --live reads the present ones from the chassis.',
  examples: [
    '<%= config.bin %> evidence show angles.target-ori',
    '<%= config.bin %> evidence show disagreement.c1-tracked-pose-unit',
    '<%= config.bin %> evidence show vendor.move.request --site robot-7/site.yaml --live',
  ],
  args: { id: Args.string({ description: 'Id of a fact, from `gw evidence list`.', required: true }) },
  flags: { site: siteFlag, live: liveFlag, via: viaLiveFlag },
  schema: 'gw/evidence-show/1',
  async run({ args, flags, metadata }) {
    const { showEvidence } = await import('../../lib/toolkit/evidence/list.ts');
    const siteNamed = metadata.flags.site?.setFromDefault !== true;
    const data = await this.through(flags.via, (ssh, signal) => {
      const site = { sitePath: flags.site, siteNamed, live: flags.live, ssh };
      return showEvidence(args.id, site, { signal, onProgress: () => {} });
    });
    return { data };
  },
  render: renderEvidenceFact,
  paged: true,
});
