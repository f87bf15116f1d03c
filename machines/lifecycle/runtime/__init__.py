"""The reference runtime: the smallest thing that obeys the charts under the policies it is given."""
