import unittest

from labels.printer import submit


class SubmitTest(unittest.TestCase):
    def test_the_printer_has_the_last_word(self):
        self.assertTrue(submit(lambda label: True, "label"))
        self.assertFalse(submit(lambda label: False, "label"))
