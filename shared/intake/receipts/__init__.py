"""Receipts: what arrived from which sender, counted by the hour and kept for 30 days.

A receipt is one more command in the write that makes a batch durable (`receipt`). Redis folds
receipts into rows (`folding`), and rows are flushed into PostgreSQL (`flushing`).
"""
