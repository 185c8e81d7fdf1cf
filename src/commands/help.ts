import { stripVTControlCharacters } from 'node:util';
import { Args } from '@oclif/core';
import { command } from '../cli/define.ts';
import type { HelpResult as Result } from '../cli/help.result.ts';

export default command({
  summary: 'Show what a command does, its flags and its examples.',
  description:
    'Without a command it lists all of them, with a topic those of the topic. The same as --help behind the command.',
  examples: [
    '<%= config.bin %> help',
    '<%= config.bin %> help chassis',
    '<%= config.bin %> help chassis probe',
    '<%= config.bin %> help chassis probe --json',
  ],
  strict: false,
  args: { command: Args.string({ description: 'Words of the command or topic.' }) },
  schema: 'gw/help/1',
  async run({ argv }) {
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
  },
  render({ text }: Result) {
    return text;
  },
});
