import { basename, extname } from 'node:path';
import { GwError } from '../../error/index.ts';
import { createFile } from '../../lifecycle/index.ts';
import type { ChecklistInit } from './checklist.result.ts';

/** Writes a commented list to start from. Throws USAGE, FILE_EXISTS, FILE_UNWRITABLE. */
export async function initChecklist(path: string): Promise<ChecklistInit> {
  // `gw checklist run` takes a plain word for the name of a built-in list.
  if (!/[./]/.test(path)) {
    throw new GwError('USAGE', `'${path}' has no extension.`, { remedy: `Name the file ${path}.yaml.` });
  }
  const stem = basename(path, extname(path)).toLowerCase();
  const name = /^[a-z0-9][a-z0-9-]{0,63}$/.test(stem) ? stem : 'own-checks';
  await createFile(path, startingList(name)).catch((error: unknown) => {
    if (!(error instanceof GwError) || error.code !== 'FILE_EXISTS') throw error;
    throw new GwError('FILE_EXISTS', error.message, { remedy: 'Name another file.', cause: error });
  });
  return { path, name };
}

/** One own check of each kind, about the gateway itself: it loads as it is, and asks no other machine. */
export function startingList(name: string): string {
  return `# A checklist of your own. Each step is one check; change, copy or delete them.
# Try it:   gw checklist show ./FILE             reads it, runs nothing
#           gw checklist run ./FILE --no-record  runs it, keeps nothing
# All keys and checks: docs/checklists.md, and gw checklist list.
schema: gw/checklist/1
name: ${name} # lower-case letters, digits and -; records and reports are named after it
title: Own checks
purpose: Verifies what this site has beside the robot.
steps:
  - id: page # what --only takes
    title: The operator page answers
    run: http
    with:
      url: http://127.0.0.1:5173/
      timeoutS: 5
    expect: # paths into the result, and what they must be; without this a step proves nothing
      status: 200
      headers['content-type']: { contains: text/html }
    retry: { times: 2, everyS: 1 } # up to three attempts
    remedy: Start the gateway with gw serve. # shown when the step is not ok; may be left out

  - id: port
    title: The operator port accepts connections
    run: tcp
    with: { host: 127.0.0.1, port: 5173 }
    expect: { reachable: true }

  - id: name
    title: The name service of this machine answers
    run: dns
    with: { name: localhost, type: A, server: 127.0.0.53 } # server: may be left out, or any address
    expect: { answers: { contains: 127.0.0.1 } }

  - id: file
    title: This machine has a name
    run: file
    with: { path: /etc/hostname, content: true } # sha256: true reads the whole file for its hash
    expect:
      type: file
      owner: root
      content: not-empty

  - id: process
    title: The service manager runs
    run: process
    with: { name: systemd } # argument: one of its arguments, where several programs have this name
    expect: { running: true }

  # A program runs only where the site file allows it, or the list is refused. Add to the site file
  #   checklists: { programs: [/usr/bin/systemctl] }
  # and take the # from these lines:
  # - id: command
  #   title: The time is synchronised
  #   run: command
  #   with: { argv: [/usr/bin/systemctl, is-active, systemd-timesyncd] } # never a shell
  #   expect: { exit: 0, stdout: { contains: active } }

  # A person answers what gw cannot check:
  # - id: label
  #   title: The robot has its label
  #   confirm: Is the label on the robot?
`;
}
