import { Args, Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { secondsFlag, siteFlag, viaFlag } from '../../cli/flags.ts';
import { withProgress } from '../../cli/progress.ts';
import { renderTourRun } from '../../cli/render/tour.ts';
import { GwError } from '../../lib/error/index.ts';
import type { TourRun as Result } from '../../lib/toolkit/tour-run.result.ts';

export default class TourRun extends GwCommand<Result> {
  static override summary = 'Drive a tour through the running gateway, and compare where the robot then stands.';
  static override description =
    'THE ROBOT MOVES. Follows the tour to its end and compares the pose that the chassis then reports with the last station of the site file: a wrong angle unit anywhere on the way shows there. Ends with 1 when the tour or the comparison fails.';
  static override examples = [
    '<%= config.bin %> tour run breakfast --robot-will-move',
    '<%= config.bin %> tour run breakfast --robot-will-move --within 300 --json',
  ];
  static override args = { name: Args.string({ description: 'A tour of the site file.', required: true }) };
  static override flags = {
    site: siteFlag,
    via: viaFlag,
    'robot-will-move': Flags.boolean({ summary: 'Nobody stands in the way: the robot may move.', default: false }),
    within: secondsFlag({ summary: 'How long the tour may take', default: 120, min: 1, max: 3600 }),
  };
  static override readonly schema = 'gw/tour-run/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { args, flags } = await this.parse(TourRun);
    if (!flags['robot-will-move']) {
      throw new GwError('RISK_NOT_ACCEPTED', `This drives the robot through tour '${args.name}'.`, {
        remedy: 'Make sure that nobody stands in the way, then add --robot-will-move.',
      });
    }
    const { runTour } = await import('../../lib/toolkit/tour-run.ts');
    const options = { tour: args.name, withinMs: flags.within * 1000 };
    const data = await this.withToolkit(flags, (toolkit, signal) =>
      withProgress({ quiet: this.jsonEnabled() }, (progress) =>
        runTour(toolkit, options, { signal, onProgress: progress.say }),
      ),
    );
    return { data, ok: data.findings.every(({ verdict }) => verdict !== 'wrong') };
  }

  protected override render(data: Result): string {
    return renderTourRun(data);
  }
}
