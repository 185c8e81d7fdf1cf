import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { liveFlag, siteFlag, viaLiveFlag } from '../../cli/flags.ts';
import { renderEvidenceList } from '../../cli/render/evidence.ts';
import type { EvidenceList as Result } from '../../lib/toolkit/evidence/list.result.ts';

export default class EvidenceList extends GwCommand<Result> {
  static override summary = 'List what is known about the platform, and how well.';
  static override description =
    'Every fact carries a mark and on what it rests: BELEGT was measured on a device or on a simulator, or is stated by the specification, HINWEIS comes from a vendor description, VORSICHT is assumed, OFFEN is unknown. Where there is a site file, what was recorded on its device stands beside; which record counts now is known only with --live.';
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
    about: Flags.string({ summary: 'Only facts in which every one of these words occurs.', helpValue: 'WORDS' }),
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

  protected override render(data: Result): string {
    return renderEvidenceList(data);
  }
}
