import { Flags } from '@oclif/core';
import type { Outcome } from '../../cli/command.ts';
import { command } from '../../cli/define.ts';
import { durationFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { unended } from '../../cli/lost-write.ts';
import { renderChassisRestart } from '../../cli/render/chassis-restart.ts';
import { exitCodes, type GwError } from '../../lib/error/index.ts';
import type { ChassisRestart as Result } from '../../lib/toolkit/chassis/chassis.result.ts';

export default command({
  summary: 'Restart the software of the robot with a backup at hand, and compare its maps afterwards.',
  description:
    'A restart has lost the maps twice (measured). It therefore needs a backup of this chassis with every present map, and a robot that stands still. The command waits until the chassis answers again, compares the maps with those before, and names the command that restores lost maps; at a terminal it offers to run it. Maps in the making that are not stored are in no backup. Exits with 1 when a map is lost or changed or no restart was observed, with 3 when the chassis is not connected again in time.',
  examples: [
    '<%= config.bin %> chassis restart --backup maps-SN0007-20260131T120000Z.tar.gz',
    '<%= config.bin %> chassis restart --backup before-the-update.tar.gz --timeout 10m --json',
  ],
  flags: {
    site: siteFlag,
    via: viaFlag,
    backup: Flags.file({
      summary: 'Backup with every present map, as `gw map backup` wrote it.',
      helpValue: 'FILE',
      required: true,
    }),
    'robot-stands-still': Flags.boolean({
      summary: 'You see that the robot stands still: continue when its poses do not show it.',
      default: false,
    }),
    timeout: durationFlag({
      summary: 'How long the chassis may take until it answers again',
      default: 300,
      min: 5,
      max: 3600,
    }),
  },
  schema: 'gw/chassis-restart/1',
  async run({ flags }) {
    const { restartWithBackup } = await import('../../lib/toolkit/chassis/restart.ts');
    const { changeCarefully } = await import('../../cli/careful-run.ts');
    const { askLine, canAsk } = await import('../../cli/ask.ts');
    const options = {
      path: flags.backup,
      itStandsStill: flags['robot-stands-still'],
      withinMs: flags.timeout * 1_000,
      sitePath: flags.site,
      gwVersion: this.config.version,
    };
    const { data, lost } = await changeCarefully(this, flags, async (toolkit, careful) => {
      const offerRestore = async (lost: Result) => {
        careful.quieten();
        this.note(`${renderChassisRestart(lost)}\n`);
        const question =
          "If you see that the robot stands still: to restore the maps now (writing maps was never measured on a real chassis), type 'restore':";
        // Anything else means no, an interruption as well.
        return await askLine(question, { signal: careful.signal }).then(
          (word) => word === 'restore',
          () => false,
        );
      };
      const asks = !this.jsonEnabled() && canAsk();
      return await restartWithBackup(toolkit, options, { ...careful, offerRestore: asks ? offerRestore : undefined });
    });
    return { data, ...outcomeOf(data, lost) };
  },
  render: renderChassisRestart,
});

function outcomeOf({ verdict, restore }: Result, lost: GwError | undefined): Omit<Outcome<Result>, 'data'> {
  if (verdict === 'interrupted' || restore?.interrupted === true) return { ok: false, ...unended(lost) };
  if (verdict === 'not-back') return { ok: false, exitCode: exitCodes.notReachable };
  return { ok: verdict === 'ok' || verdict === 'brought-back' };
}
