import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { renderReplacement } from '../../cli/render/replace.ts';
import { codeFlags, codeReader, isAttended, personOf, replaceFlags } from '../../cli/replace-person.ts';

const INTERRUPTED =
  'Interrupted. A started write is completed and verified, within about a minute; a second Ctrl-C exits at once. Run the command again to go on.';

export default command({
  summary: 'Replace the chassis of this robot, step by step; run it again to go on.',
  description:
    'Run it on the gateway, as the user of `gw serve`. It looks at every step, performs or asks the first one that does not hold, and goes on; the next run begins with the same look, also after an interruption. What gw can do: back up the maps of the old chassis, stop and start the unit of systemd, change the site file, enrol, restore the maps. What only people can do is confirmed with a name, saved with its time, and shown as their word. Without a terminal, or with --json, nothing is asked: answers are given by --confirm, --who and --code-file. Exits with 0 only when every step holds now, else with 1.',
  examples: [
    '<%= config.bin %> replace chassis --new SN0008',
    '<%= config.bin %> replace chassis --code-file code.txt',
    '<%= config.bin %> replace chassis --confirm revoked --who "K. Maier" --json',
    '<%= config.bin %> replace chassis --new SN0008 --backup maps-SN0007-20260131T120000Z.tar.gz --mac 02:00:00:00:00:08',
    '<%= config.bin %> replace chassis --write-although-never-measured',
  ],
  flags: {
    ...replaceFlags,
    new: Flags.string({
      summary: 'Serial number of the new chassis; begins the replacement.',
      helpValue: 'SERIAL',
    }),
    old: Flags.string({
      summary: 'Serial number of the old chassis, if the site file names the new one already.',
      helpValue: 'SERIAL',
    }),
    'chassis-host': Flags.string({ summary: 'Address of the new chassis, if it has another one.', helpValue: 'HOST' }),
    mac: Flags.string({ summary: 'MAC address of the new chassis, if the site file names one.', helpValue: 'MAC' }),
    backup: Flags.file({
      summary: 'An earlier backup of the maps of the old chassis, if that answers no more.',
      helpValue: 'FILE',
      exclusive: ['without-maps'],
    }),
    'without-maps': Flags.boolean({
      summary: 'Go on without the maps of the old chassis: they are lost with it.',
      dependsOn: ['who'],
    }),
    ...codeFlags,
    'write-although-never-measured': Flags.boolean({
      summary: 'Restore the maps, although PATCH /maps/<id> and POST /maps/ were never measured on a real chassis.',
      default: false,
    }),
    'robot-stands-still': Flags.boolean({
      summary: 'You see that the robot stands still: restore the maps when its poses do not show it.',
      default: false,
    }),
  },
  schema: 'gw/replace-chassis/1',
  async run({ flags }) {
    const { runCarefully } = await import('../../cli/careful-run.ts');
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { replaceChassis } = await import('../../lib/toolkit/replace/chassis.ts');
    const toolkit = await openToolkit(flags.site);
    const { signal } = this;
    const quiet = this.isQuiet;
    const data = await runCarefully({ quiet, signal, interrupted: INTERRUPTED }, (careful) => {
      const at = {
        signal: careful.signal,
        progress: { stop: careful.quieten },
        attended: isAttended({ json: this.jsonEnabled() }),
      };
      return replaceChassis(
        toolkit,
        {
          ...{ to: flags.new, from: flags.old, host: flags['chassis-host'], mac: flags.mac, archive: flags.backup },
          ...{ withoutMaps: flags['without-maps'] === true, write: flags['write-although-never-measured'] },
          ...{ itStandsStill: flags['robot-stands-still'], gwVersion: this.config.version },
          ...{ person: personOf(flags, at), readCode: codeReader(flags, at), command: 'gw replace chassis' },
        },
        careful,
      );
    });
    return { data, ok: data.verdict === 'complete' };
  },
  render: renderReplacement,
});
