import { command } from '../../cli/define.ts';
import { createStageReporter, withProgress } from '../../cli/progress.ts';
import { renderReplacement } from '../../cli/render/replace.ts';
import { codeFlags, codeReader, isAttended, personOf, replaceFlags } from '../../cli/replace-person.ts';

export default command({
  summary: 'Put this machine in the place of the gateway of a robot, step by step; run it again to go on.',
  description:
    'Run it on the new gateway, as the user of `gw serve`, after its files were restored from a backup or made anew (`gw site init`). It looks at every step, performs or asks the first one that does not hold, and goes on; the next run begins with the same look. What only people can do is confirmed with a name, saved with its time, and shown as their word: a stop that was latched on the old gateway is not known here. Without a terminal, or with --json, nothing is asked. Exits with 0 only when every step holds now, else with 1.',
  examples: [
    '<%= config.bin %> replace gateway',
    '<%= config.bin %> replace gateway --code-file code.txt',
    '<%= config.bin %> replace gateway --confirm old-off --confirm latch --who "K. Maier" --json',
  ],
  flags: { ...replaceFlags, ...codeFlags },
  schema: 'gw/replace-gateway/1',
  async run({ flags }) {
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { replaceGateway } = await import('../../lib/toolkit/replace/gateway.ts');
    const { examine, thisMachine } = await import('../../lib/toolkit/doctor/doctor.ts');
    const { doctorOptions } = await import('../../cli/doctor-options.ts');
    const toolkit = await openToolkit(flags.site);
    const { signal } = this;
    const host = thisMachine({ ...doctorOptions(this.config), signal });
    const data = await withProgress({ quiet: this.isQuiet }, (progress) => {
      const at = { signal, progress, attended: isAttended({ json: this.jsonEnabled() }) };
      return replaceGateway(
        toolkit,
        {
          ...{ person: personOf(flags, at), readCode: codeReader(flags, at), command: 'gw replace gateway' },
          examine: () => examine(flags.site, host),
        },
        { signal, onProgress: createStageReporter(progress) },
      );
    });
    return { data, ok: data.verdict === 'complete' };
  },
  render: renderReplacement,
});
