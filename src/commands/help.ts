import { stripVTControlCharacters } from 'node:util';
import { Args } from '@oclif/core';
import { GwCommand, type Outcome } from '../cli/command.ts';
import type { HelpResult as Result } from '../cli/help.result.ts';

export default class HelpCommand extends GwCommand<Result> {
  static override summary = 'Show what a command does, its flags and its examples.';
  static override description =
    'Without a command it lists all of them, with a topic those of the topic. The same as --help behind the command.';
  static override examples = [
    '<%= config.bin %> help',
    '<%= config.bin %> help chassis',
    '<%= config.bin %> help chassis probe',
    '<%= config.bin %> help chassis probe --json',
  ];
  static override strict = false;
  static override args = { command: Args.string({ description: 'Words of the command or topic.' }) };
  static override readonly schema = 'gw/help/1';

  protected override async execute(): Promise<Outcome<Result>> {
    const { argv } = await this.parse(HelpCommand);
    const words = argv.map(String).flatMap((word) => word.split(':'));
    const { HelpText } = await import('../cli/help.ts');
    const help = new HelpText(this.config, { ...this.config.pjson.oclif.helpOptions });
    await help.showHelp(words);
    return {
      data: {
        about: words.length === 0 ? null : words.join(' '),
        text: this.jsonEnabled() ? stripVTControlCharacters(help.text) : help.text,
      },
    };
  }

  protected override render({ text }: Result): string {
    return text;
  }
}
