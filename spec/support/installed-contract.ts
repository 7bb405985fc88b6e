/** The API contract as a program of its own, which `spec/dist/installed-api.spec.ts` bundles with the imports of an application. */
import { suite } from 'uvu';
import { openCpuDevice } from '../../src/device/index.ts';
import { apiContract } from './api-contract.ts';

const test = suite('the API contract');
apiContract(test, { name: 'cpu', open: openCpuDevice, launches: 200 });
test.run();
