/**
 * The operator server: one application on two sockets. What a connection may see is decided by the listener that
 * accepted it; the read-only socket is a constant, and its allow list is a column of the one route table.
 */

export { createJournal } from './journal.ts';
export type {
  FolderHealth,
  GatewayHealth,
  Neighbour,
  NeighboursView,
  OperatorOptions,
  OutputHealth,
} from './model.ts';
export { createOperator, READ_ONLY_SOCKET } from './operator.ts';
export { hashPassword, PASSWORD_LEAST_LENGTH, PASSWORD_MOST_LENGTH } from './sign-in/password-hash.ts';
