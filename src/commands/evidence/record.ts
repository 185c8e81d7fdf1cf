import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { siteFlag, viaFlag } from '../../cli/flags.ts';
import { renderEvidenceRecorded } from '../../cli/render/evidence.ts';

export default command({
  summary: 'Record a fact that you verified on this device.',
  description:
    'Reads serial number and software version from the chassis, and appends one line to the evidence file of the site; the record counts for these two only. A HINWEIS that holds becomes BELEGT on this device. VORSICHT and OFFEN are raised by a measured value only, and no order that moves the robot ever relies on them. A running `gw serve` applies a contradiction within a second; new evidence counts after its restart, or with `gw evidence adopt`.',
  examples: [
    '<%= config.bin %> evidence record vendor.move.request --holds --how "ordered 1 m ahead in the empty hall, tape says 1.01 m" --who "J. Doe"',
    `<%= config.bin %> evidence record vendor.overlays.region-types --value '{"1":"no-go zone"}' --how "added one, ordered a move into it, refused" --who "J. Doe"`,
    '<%= config.bin %> evidence record overlays.lane-direction-3 --value "driven both ways" --how "20 moves along lane 7" --who "J. Doe"',
    '<%= config.bin %> evidence record vendor.boot-phase --does-not-hold --how "answers 200 while starting" --who "J. Doe"',
  ],
  args: {
    fact: Args.string({ description: 'Id of a fact, from `gw evidence list`.', required: true }),
  },
  flags: {
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
  },
  schema: 'gw/evidence-record/1',
  async run({ args, flags }) {
    const { recordEvidence } = await import('../../lib/toolkit/evidence/record.ts');
    const { fact } = args;
    const { value, holds, how, who } = flags;
    const found = value !== undefined ? { value } : holds ? ('holds' as const) : ('does-not-hold' as const);
    const data = await this.call(flags, recordEvidence, { fact, found, how, who }, { shown: 'spinner' });
    return { data };
  },
  render: renderEvidenceRecorded,
});
