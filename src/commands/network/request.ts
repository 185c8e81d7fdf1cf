import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { siteFlag } from '../../cli/flags.ts';
import { openPointLines, renderNetworkRequest } from '../../cli/render/network.ts';

export default command({
  summary: "Write the letter to the customer's IT with the network requirements.",
  description:
    'Filled from the site file: robot segment and the reason for it, DHCP reservations, outgoing connections, devices of the house network, no incoming connections. Missing values are marked as open in the letter, and listed with their site file keys. Makes no connection.',
  examples: [
    '<%= config.bin %> network request > request.md',
    '<%= config.bin %> network request --lang de --format pdf --out Netzwerkanfrage.pdf',
    '<%= config.bin %> network request --format html --out request.html --force',
    '<%= config.bin %> network request --json',
  ],
  flags: {
    site: siteFlag,
    lang: Flags.option({
      summary: 'Language of the letter.',
      options: ['de', 'en'] as const,
      default: 'de' as const,
    })(),
    format: Flags.option({
      summary: 'Format of the letter; pdf requires --out.',
      options: ['md', 'markdown', 'html', 'pdf'] as const,
      default: 'md' as const,
    })(),
    out: Flags.file({ char: 'o', summary: 'Write the letter to this file.', helpValue: 'FILE' }),
    force: Flags.boolean({ summary: 'Replace the file of --out.', dependsOn: ['out'] }),
  },
  schema: 'gw/network-request/1',
  async run({ flags }) {
    const { writeNetworkRequest } = await import('../../lib/toolkit/network/request.ts');
    const { site: sitePath, lang, out, force } = flags;
    const format = flags.format === 'markdown' ? 'md' : flags.format;
    const data = await writeNetworkRequest({ sitePath, lang, format, out, force, now: () => new Date() });
    // stdout holds the letter only, so open points go to stderr.
    if (data.document !== null && !this.jsonEnabled()) for (const line of openPointLines(data)) this.note(line);
    return { data };
  },
  render: renderNetworkRequest,
});
