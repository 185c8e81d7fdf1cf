import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { liveFlag, siteFlag, viaLiveFlag } from '../../cli/flags.ts';
import { renderEvidenceList } from '../../cli/render/evidence.ts';

export default command({
  summary: 'List the facts about the platform with their evidence marks.',
  description:
    'Every fact has a mark with its basis: BELEGT (measured on a device or on a simulator, or stated by the specification), HINWEIS (note: vendor description), VORSICHT (assumed), OFFEN (open: unknown). With a site file the records of its device are shown as well; which record counts now is known only with --live.',
  examples: [
    '<%= config.bin %> evidence list',
    '<%= config.bin %> evidence list --mark OFFEN',
    '<%= config.bin %> evidence list --about "ori degrees"',
    '<%= config.bin %> evidence list --mark HINWEIS --live',
  ],
  flags: {
    mark: Flags.option({
      summary: 'Only facts with this mark.',
      options: ['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN'] as const,
    })(),
    about: Flags.string({ summary: 'Only facts that contain all of these words.', helpValue: 'WORDS' }),
    site: siteFlag,
    live: liveFlag,
    via: viaLiveFlag,
  },
  schema: 'gw/evidence-list/1',
  async run({ flags, metadata }) {
    const { listEvidence } = await import('../../lib/toolkit/evidence/list.ts');
    const siteNamed = metadata.flags.site?.setFromDefault !== true;
    const data = await this.through(flags.via, (ssh, signal) => {
      const site = { sitePath: flags.site, siteNamed, live: flags.live, ssh };
      return listEvidence(flags, site, { signal, onProgress: () => {} });
    });
    return { data };
  },
  render: renderEvidenceList,
  paged: true,
});
