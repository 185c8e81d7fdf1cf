import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { acceptUndecidedFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { backupWarnings, renderMapBackup } from '../../cli/render/map.ts';

export default command({
  summary: 'Back up the maps of the chassis into one file.',
  description:
    'Reads only. Saves data, overlays, picture and localisation data byte for byte, with checksums, serial number and software version, and reads the file back before it is moved to its path. The maps are read one after the other: each is consistent in itself, and a change in between is noticed only where the list of maps or a version counter changed. Without --map every map is saved. Exits with 1 when a file of a map could not be read; the backup is written all the same and lists what is missing. Also with 1 when a check was not made, such as without a map, unless --accept-undecided.',
  examples: [
    '<%= config.bin %> map backup',
    '<%= config.bin %> map backup --out before-the-update.tar.gz',
    '<%= config.bin %> map backup --map 1 --map 3 --json',
    '<%= config.bin %> map backup --via technician@192.0.2.2',
  ],
  flags: {
    'accept-undecided': acceptUndecidedFlag,
    site: siteFlag,
    via: viaFlag,
    map: Flags.string({ summary: 'Only this map; repeatable.', helpValue: 'ID', multiple: true }),
    out: Flags.file({
      char: 'o',
      summary: 'Backup file; default: named by serial number and time, in the current folder.',
      helpValue: 'FILE',
    }),
    force: Flags.boolean({ summary: 'Replace an existing file.', default: false }),
  },
  schema: 'gw/map-backup/1',
  async run({ flags }) {
    const { backUpMapsToFile } = await import('../../lib/toolkit/map/backup.ts');
    const { map: ids = [], out: path, force } = flags;
    const options = { ids, path, force, gwVersion: this.config.version };
    const data = await this.call(flags, backUpMapsToFile, options, { shown: 'stages' });
    for (const text of backupWarnings(data)) this.warn(text);
    return await this.judged(data, data.verdict, flags);
  },
  render: renderMapBackup,
});
