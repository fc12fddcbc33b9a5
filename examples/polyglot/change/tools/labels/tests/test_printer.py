import unittest

from labels.printer import submit


class SubmitTest(unittest.TestCase):
    def test_the_printer_has_the_last_word(self):
        self.assertTrue(submit(lambda label: True, "label", 2))

    def test_a_jammed_printer_is_asked_again(self):
        asked = []
        self.assertFalse(submit(lambda label: asked.append(label), "label", 2))
        self.assertEqual(len(asked), 2)
