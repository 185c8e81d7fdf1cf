import { command } from '../cli/define.ts';
import { acceptUndecidedFlag, siteFlag, viaThereFlag } from '../cli/flags.ts';
import { renderNext } from '../cli/render/next.ts';
import { systemClock } from '../lib/lifecycle/index.ts';

export default command({
  summary: 'Say the one next command of a commissioning, why, and what to have at hand.',
  description:
    'Looks at the site file, the state folder and the running gateway as they are now, and changes nothing. Run it on the gateway, as the user of `gw serve`, or through --via. Exits with 1 while a step is open, and, unless --accept-undecided, while one could not be looked at.',
  examples: [
    '<%= config.bin %> next',
    '<%= config.bin %> next --via technician@192.0.2.2',
    '<%= config.bin %> next --json',
  ],
  flags: { site: siteFlag, via: viaThereFlag, 'accept-undecided': acceptUndecidedFlag },
  schema: 'gw/next/1',
  there: async () => (await import('../lib/toolkit/next/next.result.ts')).nextSchema,
  async run({ flags }) {
    const { readNext } = await import('../lib/toolkit/next/next.ts');
    const context = { signal: this.signal, onProgress: () => {} };
    const data = await readNext(flags.site, { clock: systemClock }, context);
    return await this.judged(data, data.verdict, flags);
  },
  render: renderNext,
});
