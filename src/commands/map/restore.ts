import { Args, Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { safetyFlags, siteFlag, viaFlag } from '../../cli/flags.ts';
import { nothingWritten, unended } from '../../cli/lost-write.ts';
import { printable } from '../../cli/output.ts';
import { renderMapRestore } from '../../cli/render/map-restore.ts';

export default command({
  summary: 'Restore maps of a backup to their chassis; without the risk flag a dry run.',
  description:
    'Without --write-although-never-measured nothing is written: the command compares map by map and shows what it would do. With the flag, overlays that differ are replaced and lost maps are created; both calls were never measured on a real chassis. The robot must stand still, a backup of the current state is written first, each write is read back and compared by content, and overlays that differ after the write are rolled back. A map that was recreated since the backup keeps its own overlays. A backup of another robot is refused unless --from-another-robot names its serial number: then its maps are copied, and none becomes the current one. End tours first, and do not edit maps meanwhile. At the end the stored overlays are compared with those that the robot drives by (/map/info), since a chassis may store a write and keep using the overlays it has loaded. Exits with 1 when a map cannot be restored, a write failed, or the robot drives by other overlays than the stored ones.',
  examples: [
    '<%= config.bin %> map restore maps-SN0007-20260131T120000Z.tar.gz',
    '<%= config.bin %> map restore before-the-update.tar.gz --map 1 --write-although-never-measured',
    '<%= config.bin %> map restore before-the-update.tar.gz --write-although-never-measured --robot-stands-still --out now.tar.gz',
    '<%= config.bin %> map restore maps-SN0007-20260131T120000Z.tar.gz --from-another-robot SN0007',
  ],
  args: { file: Args.string({ description: 'The backup.', required: true }) },
  flags: {
    site: siteFlag,
    via: viaFlag,
    map: Flags.string({
      summary: 'Only this map of the backup, by its number there or its uid; repeatable.',
      helpValue: 'ID',
      multiple: true,
    }),
    'from-another-robot': Flags.string({
      summary:
        'Copy the maps of another robot: its serial number, as in the backup. Afterwards set the position and repeat the trials.',
      helpValue: 'SERIAL',
    }),
    'write-although-never-measured': Flags.boolean({
      summary: 'Write, although PATCH /maps/<id> and POST /maps/ were never measured on a real chassis.',
      default: false,
    }),
    ...safetyFlags,
  },
  schema: 'gw/map-restore/1',
  async run({ args, flags }) {
    const { restoreFromBackup } = await import('../../lib/toolkit/map/restore.ts');
    const { changeCarefully } = await import('../../cli/careful-run.ts');
    const options = {
      path: args.file,
      ids: flags.map ?? [],
      fromAnotherRobot: flags['from-another-robot'],
      write: flags['write-although-never-measured'],
      itStandsStill: flags['robot-stands-still'],
      backupPath: flags.out,
      sitePath: flags.site,
      gwVersion: this.config.version,
    };
    const { data, lost } = await changeCarefully(
      this,
      flags,
      (toolkit, careful) => restoreFromBackup(toolkit, options, careful),
      nothingWritten,
    );
    for (const note of data.notes) this.warn(printable(note));
    for (const lack of data.safetyBackup?.lacks ?? []) this.warn(printable(`the safety backup lacks ${lack}`));
    const { isRunningDifferent } = await import('../../lib/toolkit/map/change.ts');
    const isSuccess = ['nothing-to-do', 'to-do', 'restored'].includes(data.verdict);
    const ok = isSuccess && !data.interrupted && !isRunningDifferent(data.running);
    return { data, ok, ...(data.interrupted && unended(lost)) };
  },
  render: renderMapRestore,
});
