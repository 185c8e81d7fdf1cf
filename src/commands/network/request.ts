import { Flags } from '@oclif/core';
import { GwCommand, type Outcome } from '../../cli/command.ts';
import { siteFlag } from '../../cli/flags.ts';
import { openPointLines, renderNetworkRequest } from '../../cli/render/network-request.ts';
import type { NetworkRequest as Result } from '../../lib/toolkit/network/request.result.ts';

export default class NetworkRequest extends GwCommand<Result> {
  static override summary = "Write the letter that asks the customer's IT for the network.";
  static override description =
    'Filled from the site file: robot segment and the reason for it, DHCP reservations, outgoing connections, devices in the house, nothing incoming. What the site file does not say stands in the letter as open, and is listed with the key where it belongs. Dials nothing.';
  static override examples = [
    '<%= config.bin %> network request > request.md',
    '<%= config.bin %> network request --lang de --format pdf --out Netzwerkanfrage.pdf',
    '<%= config.bin %> network request --format html --out request.html --force',
    '<%= config.bin %> network request --json',
  ];
  static override flags = {
    site: siteFlag,
    lang: Flags.option({
      summary: 'Language of the letter.',
      options: ['de', 'en'] as const,
      default: 'de' as const,
    })(),
    format: Flags.option({
      summary: 'Form of the letter; pdf needs --out.',
      options: ['md', 'html', 'pdf'] as const,
      default: 'md' as const,
    })(),
    out: Flags.file({ char: 'o', summary: 'Write the letter to this file.', helpValue: 'FILE' }),
    force: Flags.boolean({ summary: 'Replace the file of --out.', dependsOn: ['out'] }),
  };
  static override readonly schema = 'gw/network-request/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { flags } = await this.parse(NetworkRequest);
    const { writeNetworkRequest } = await import('../../lib/toolkit/network/request.ts');
    const { site: sitePath, lang, format, out, force } = flags;
    const data = await writeNetworkRequest({ sitePath, lang, format, out, force, now: () => new Date() });
    // The letter has stdout for itself; what is missing in it still reaches the technician.
    if (data.document !== null && !this.jsonEnabled()) for (const line of openPointLines(data)) this.note(line);
    return { data };
  }

  protected override render(data: Result): string {
    return renderNetworkRequest(data);
  }
}
