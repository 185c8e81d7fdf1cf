import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { safetyFlags, siteFlag, viaFlag } from '../../cli/flags.ts';
import { nothingWritten, unended } from '../../cli/lost-write.ts';
import { printable } from '../../cli/output.ts';
import { renderMapSelect } from '../../cli/render/map.ts';

export default command({
  summary: 'Select a stored map, or the current one again; without the risk flag a dry run.',
  description:
    'Without --select-although-the-position-is-lost nothing is sent: the command shows the current map and whether the robot drives by its stored overlays. With the flag the map becomes the current one (POST /chassis/current-map, never measured on a real chassis); selecting the current map again makes the chassis reload its overlays. The robot must stand still, a backup of every map is written first, and afterwards the current map, the running overlays and the stored maps are read back. The position of the robot is expected to be lost: set it before it moves. Takes up to a minute. Exits with 1 when the map was not selected, the robot drives by other overlays than the stored ones, or a stored map changed.',
  examples: [
    '<%= config.bin %> map select 1',
    '<%= config.bin %> map select 1 --select-although-the-position-is-lost',
    '<%= config.bin %> map select 2 --select-although-the-position-is-lost --robot-stands-still --out now.tar.gz',
  ],
  args: {
    id: Args.string({ description: 'Number of the map in gw map list.', required: true }),
  },
  flags: {
    site: siteFlag,
    via: viaFlag,
    'select-although-the-position-is-lost': Flags.boolean({
      summary: 'Select it: a person on site can set the position of the robot afterwards.',
      default: false,
    }),
    ...safetyFlags,
  },
  schema: 'gw/map-select/1',
  async run({ args, flags }) {
    const { selectStoredMap } = await import('../../lib/toolkit/map/select.ts');
    const { changeCarefully } = await import('../../cli/careful-run.ts');
    const options = {
      id: args.id,
      select: flags['select-although-the-position-is-lost'],
      itStandsStill: flags['robot-stands-still'],
      backupPath: flags.out,
      sitePath: flags.site,
      gwVersion: this.config.version,
    };
    const { data, lost } = await changeCarefully(
      this,
      flags,
      (toolkit, careful) => selectStoredMap(toolkit, options, careful),
      nothingWritten,
    );
    for (const lack of data.safetyBackup?.lacks ?? []) this.warn(printable(`the safety backup lacks ${lack}`));
    const ok = ['to-do', 'selected', 'running-not-checked'].includes(data.verdict) && !data.interrupted;
    return { data, ok, ...(data.interrupted && unended(lost)) };
  },
  render: renderMapSelect,
});
