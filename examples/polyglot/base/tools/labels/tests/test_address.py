import unittest

from labels.address import block


class BlockTest(unittest.TestCase):
    def test_long_lines_are_cut(self):
        self.assertEqual(block(["A" * 40, "Bonn"]), "A" * 32 + "\nBonn")
