/** The project that is tested: the one in the folder of `resource-registry test`, or this repository. */
import { loadProduct } from '../../engine/product.js'
import { root } from '../../support/root.js'

export const testedProject = process.env['TEST_PROJECT'] ?? root

export const { product, middleware } = await loadProduct(testedProject)
