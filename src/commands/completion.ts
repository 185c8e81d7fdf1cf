import { Args } from '@oclif/core';
import type { CompletionResult } from '../cli/completion/completion.result.ts';
import { type Shell, scripts, shells } from '../cli/completion/scripts.ts';
import { command } from '../cli/define.ts';

export default command({
  summary: 'Print the script with which a shell completes gw.',
  description:
    'Commands, flags, their values, and files. The script asks gw at each completion, so it need not be renewed after an update. For one shell: source <(gw completion bash), or gw completion fish | source.',
  examples: [
    '<%= config.bin %> completion bash > /etc/bash_completion.d/gw',
    '<%= config.bin %> completion zsh > /usr/share/zsh/vendor-completions/_gw',
    '<%= config.bin %> completion fish > ~/.config/fish/completions/gw.fish',
  ],
  args: { shell: Args.string({ description: 'Shell.', options: [...shells], required: true }) },
  schema: 'gw/completion/1',
  async run({ args }) {
    const shell = args.shell as Shell;
    return { data: { shell, script: scripts[shell] } };
  },
  render: ({ script }: CompletionResult) => script,
  isDocument: () => true,
});
