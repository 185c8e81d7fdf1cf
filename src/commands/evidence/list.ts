import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { liveFlag, siteFlag } from '../../cli/flags.ts';
import { renderEvidenceList } from '../../cli/render/evidence.ts';
import type { EvidenceList as Result } from '../../lib/toolkit/evidence-list.result.ts';

export default class EvidenceList extends GwCommand<Result> {
  static override summary = 'List what is known about the platform, and how well.';
  static override description =
    'Every fact carries a mark: BELEGT was measured, HINWEIS comes from a vendor description, VORSICHT is assumed, OFFEN is unknown. Where there is a site file, what was recorded on its device stands beside; which record counts now is known only with --live.';
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
  };
  static override readonly schema = 'gw/evidence-list/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags, metadata } = await this.parse(EvidenceList);
    const { listEvidence } = await import('../../lib/toolkit/evidence-list.ts');
    const siteNamed = metadata.flags.site?.setFromDefault !== true;
    const context = { signal: this.signal, onProgress: () => {} };
    return { data: await listEvidence(flags, { sitePath: flags.site, siteNamed, live: flags.live }, context) };
  }

  protected override render(data: Result): string {
    return renderEvidenceList(data);
  }
}
