import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { kioskAccess, kioskFlags, lockFlags } from '../../cli/kiosk-flags.ts';
import { createStageReporter, withProgress } from '../../cli/progress.ts';
import { renderReplacement } from '../../cli/render/replace.ts';
import { isAttended, personOf, replaceFlags } from '../../cli/replace-person.ts';

const { adb, usb, timeout } = kioskFlags;

export default command({
  summary: 'Replace the tablet of this robot, step by step; run it again to go on.',
  description:
    'Run it on the gateway. It looks at every step, and sets the new tablet up and locks it while its ADB port is open, or with --usb, as `gw kiosk setup --after-restart` does. The old tablet is the one that this machine remembers. What only people can do is confirmed with a name, saved with its time, and shown as their word. Without a terminal, or with --json, nothing is asked. Exits with 0 only when every step holds now, else with 1.',
  examples: [
    '<%= config.bin %> replace tablet',
    '<%= config.bin %> replace tablet --usb',
    '<%= config.bin %> replace tablet --confirm old-key --who "K. Maier" --json',
  ],
  flags: {
    ...replaceFlags,
    ...{ adb, usb, timeout, for: lockFlags.for },
    old: Flags.string({
      summary: 'Serial number of the old tablet, if this machine remembers none.',
      helpValue: 'SERIAL',
    }),
  },
  schema: 'gw/replace-tablet/1',
  async run({ flags }) {
    const { openToolkit } = await import('../../lib/toolkit/index.ts');
    const { replaceTablet } = await import('../../lib/toolkit/replace/tablet.ts');
    const toolkit = await openToolkit(flags.site);
    const { signal } = this;
    const data = await withProgress({ quiet: this.isQuiet }, (progress) => {
      const at = { signal, progress, attended: isAttended({ json: this.jsonEnabled() }) };
      return replaceTablet(
        toolkit,
        {
          ...{ access: kioskAccess(flags), watchMs: flags.for * 1_000, from: flags.old },
          ...{ person: personOf(flags, at), command: 'gw replace tablet' },
        },
        { signal, onProgress: createStageReporter(progress) },
      );
    });
    return { data, ok: data.verdict === 'complete' };
  },
  render: renderReplacement,
});
