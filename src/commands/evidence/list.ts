import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { liveFlag, siteFlag, viaLiveFlag } from '../../cli/flags.ts';
import { renderEvidenceList } from '../../cli/render/evidence.ts';
import type { EvidenceList as Result } from '../../lib/toolkit/evidence/evidence.result.ts';

export default class EvidenceList extends GwCommand<Result> {
  static override summary = 'List the facts about the platform with their evidence marks.';
  static override description =
    'Every fact has a mark with its basis: BELEGT (measured on a device or on a simulator, or stated by the specification), HINWEIS (note: vendor description), VORSICHT (assumed), OFFEN (open: unknown). With a site file the records of its device are shown as well; which record counts now is known only with --live.';
  static override examples = [
    '<%= config.bin %> evidence list',
    '<%= config.bin %> evidence list --mark OFFEN',
    '<%= config.bin %> evidence list --about "ori degrees"',
    '<%= config.bin %> evidence list --mark HINWEIS --live',
  ];
  static override flags = {
    mark: Flags.option({
      summary: 'Only facts with this mark.',
      options: ['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN'] as const,
    })(),
    about: Flags.string({ summary: 'Only facts that contain all of these words.', helpValue: 'WORDS' }),
    site: siteFlag,
    live: liveFlag,
    via: viaLiveFlag,
  };
  static override readonly schema = 'gw/evidence-list/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags, metadata } = await this.parse(EvidenceList);
    const { listEvidence } = await import('../../lib/toolkit/evidence/list.ts');
    const siteNamed = metadata.flags.site?.setFromDefault !== true;
    const data = await this.through(flags.via, (ssh, signal) => {
      const site = { sitePath: flags.site, siteNamed, live: flags.live, ssh };
      return listEvidence(flags, site, { signal, onProgress: () => {} });
    });
    return { data };
  }

  protected override readonly render = renderEvidenceList;
}
