/** The doors of the cluster: what opens it, and what the operator's commands and checks use. */
export { openCluster } from './open.ts';
export { backUpClusterTo, copyClusterBooks } from './operate/copy-books.ts';
export { books as examineBooks, objects as examineObjects } from './operate/examine.ts';
export { importFolder } from './operate/import-folder.ts';
export { drainNode, finishUpgrade, forgetClusterModels, forgetNode, showCluster } from './operate/nodes.ts';
