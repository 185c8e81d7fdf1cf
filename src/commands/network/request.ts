import { Flags } from '@oclif/core';
import { command } from '../../cli/define.ts';
import { siteFlag } from '../../cli/flags.ts';
import { chooseFormat } from '../../cli/format.ts';
import { openPointLines, renderNetworkRequest } from '../../cli/render/network.ts';
import { embeddedFonts } from '../../cli/shipped.ts';

export default command({
  summary: "Write the letter to the customer's IT with the network requirements.",
  description:
    'Filled from the site file: robot segment and the reason for it, DHCP reservations, outgoing connections, devices of the house network, no incoming connections. Missing values are marked as open in the letter, and listed with their site file keys. Makes no connection.',
  examples: [
    '<%= config.bin %> network request > request.md',
    '<%= config.bin %> network request --lang de --out Netzwerkanfrage.pdf',
    '<%= config.bin %> network request --out request.html --force',
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
      summary: 'Format of the letter; by default that of the name of --out, else md. pdf needs --out.',
      options: ['md', 'markdown', 'html', 'pdf'] as const,
    })(),
    out: Flags.file({ char: 'o', summary: 'Write the letter to this file.', helpValue: 'FILE' }),
    force: Flags.boolean({ summary: 'Replace an existing file.', dependsOn: ['out'] }),
  },
  schema: 'gw/network-request/1',
  async run({ flags }) {
    const { writeNetworkRequest } = await import('../../lib/toolkit/network/request.ts');
    const { site: sitePath, lang, out, force } = flags;
    const given = flags.format === 'markdown' ? 'md' : flags.format;
    const format = chooseFormat({ format: given, out }, ['md', 'html', 'pdf'], 'md');
    const data = await writeNetworkRequest({
      ...{ sitePath, lang, format, out, force },
      fontsDir: embeddedFonts(this.config.root),
      now: () => new Date(),
    });
    // stdout holds the letter only, so open points go to stderr.
    if (data.document !== null && !this.jsonEnabled()) for (const line of openPointLines(data)) this.note(line);
    return { data };
  },
  render: renderNetworkRequest,
  isDocument: ({ document }) => document !== null,
});
