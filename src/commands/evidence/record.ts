import { Args, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderEvidenceRecorded } from '../../cli/render/evidence.ts';
import type { EvidenceRecorded as Result } from '../../lib/toolkit/evidence/evidence.result.ts';

export default class EvidenceRecord extends GwCommand<Result> {
  static override summary = 'Record a fact that you verified on this device.';
  static override description =
    'Reads serial number and software version from the chassis, and appends one line to the evidence file of the site; the record counts for these two only. A HINWEIS that holds becomes BELEGT on this device. VORSICHT and OFFEN are raised by a measured value only, and no order that moves the robot ever relies on them. A running `gw serve` applies a contradiction within a second; new evidence counts after its restart, or with `gw evidence adopt`.';
  static override examples = [
    '<%= config.bin %> evidence record vendor.move.request --holds --how "ordered 1 m ahead in the empty hall, tape says 1.01 m" --who "J. Doe"',
    `<%= config.bin %> evidence record vendor.overlays.region-types --value '{"1":"no-go zone"}' --how "added one, ordered a move into it, refused" --who "J. Doe"`,
    '<%= config.bin %> evidence record overlays.lane-direction-3 --value "driven both ways" --how "20 moves along lane 7" --who "J. Doe"',
    '<%= config.bin %> evidence record vendor.boot-phase --does-not-hold --how "answers 200 while starting" --who "J. Doe"',
  ];
  static override args = {
    fact: Args.string({ description: 'Id of a fact, from `gw evidence list`.', required: true }),
  };
  static override flags = {
    value: Flags.string({
      summary: 'Measured value: JSON (a number, a table), otherwise text.',
      helpValue: 'VALUE',
      exactlyOne: ['value', 'holds', 'does-not-hold'],
    }),
    holds: Flags.boolean({ summary: 'The fact holds on this device.' }),
    'does-not-hold': Flags.boolean({ summary: 'The fact does not hold on this device.' }),
    how: Flags.string({ summary: 'How it was measured.', helpValue: 'TEXT', required: true }),
    who: Flags.string({ summary: 'Who measured it.', helpValue: 'NAME', required: true }),
    site: siteFlag,
    via: viaFlag,
  };
  static override readonly schema = 'gw/evidence-record/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(EvidenceRecord);
    const { recordEvidence } = await import('../../lib/toolkit/evidence/record.ts');
    const { withProgress } = await import('../../cli/progress.ts');
    const { fact } = args;
    const { value, holds, how, who } = flags;
    const found = value !== undefined ? { value } : holds ? ('holds' as const) : ('does-not-hold' as const);
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      withProgress({ quiet: this.jsonEnabled() }, ({ say }) =>
        recordEvidence(toolkit, { fact, found, how, who }, { signal, onProgress: say }),
      ),
    );
    return { data };
  }

  protected override readonly render = renderEvidenceRecorded;
}
